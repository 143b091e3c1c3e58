/** What another site sends late, behind something that it sent later, changes nothing. [docs/adr/0090-replication-to-a-second-site.md] */
import t from 'tap'
import { MARK_NAME, type Mark, markText } from '../../src/state-machine/sites/mark.ts'
import { type MapWorld, put, remove, worldWithBucket } from './map-world.ts'
import { MARK } from './site-commands.ts'

const EMPTY = { kind: 'empty' } as const
const [FIRST, SECOND, THIRD] = ['1', '2', '3'].map((end) => MARK.versionId.slice(1) + end) as [
  string,
  string,
  string,
]

const textOf = (more: Partial<Mark>): string => markText({ ...MARK, ...more })
const sent = (more: Partial<Mark>, expected: string | null) => ({
  ...put('a', EMPTY, 0),
  etag: 'same',
  metadata: { [MARK_NAME]: textOf(more) },
  precondition:
    expected === null ? { ifMatch: null, ifNoneMatch: ['*'] } : { ifMatch: [expected], ifNoneMatch: null },
})
const deletion = (more: Partial<Mark>) => ({ ...remove('a'), ifMatch: ['same'], replicaOf: textOf(more) })

function versioned(): MapWorld {
  const world = worldWithBucket()
  world.do({ type: 'setBucketVersioning', tenantId: 'acme', name: 'photos', versioning: 'Enabled' })
  return world
}

const LATE = { ok: false, code: 'precondition_failed' }

t.test('an upload', async (t) => {
  t.test('behind the deletion that followed it, or again', async (t) => {
    const world = versioned()
    world.do(sent({ versionId: FIRST }, null))
    t.match(world.run(sent({ versionId: FIRST }, 'same')), LATE)
    world.do(deletion({ versionId: SECOND }))
    t.match(world.run(sent({ versionId: FIRST }, null)), LATE)
    t.match(world.run(sent({ versionId: THIRD }, null)), { ok: true })
  })

  t.test('behind a deletion here that is later by the second, made while it was under way', async (t) => {
    const world = versioned()
    world.do(put('a', EMPTY, 0))
    world.do(remove('a'))
    const second = Math.floor(world.time / 1000) * 1000
    t.match(world.run(sent({ versionId: FIRST, time: second - 1 }, null)), LATE)
    t.match(
      world.run(sent({ versionId: FIRST, time: second }, null)),
      { ok: true },
      'of one second it is not known',
    )
  })

  t.test('behind a later one of equal bytes', async (t) => {
    const world = versioned()
    world.do(sent({ versionId: SECOND }, null))
    t.match(world.run(sent({ versionId: FIRST }, 'same')), LATE)
  })

  t.test('is not late behind another origin, nor where a client stores again what it has read', async (t) => {
    const world = versioned()
    world.do(sent({ versionId: SECOND, bucketId: 'other' }, null))
    world.do(sent({ versionId: FIRST }, 'same'))
    const { metadata } = sent({ versionId: FIRST }, null)
    t.match(world.run({ ...put('a', EMPTY, 0), metadata }), { ok: true })
  })

  t.test('is judged from the level of marks on', async (t) => {
    const world = versioned()
    world.featureLevel = 6
    world.do(sent({ versionId: SECOND }, null))
    t.match(world.run(sent({ versionId: FIRST }, 'same')), { ok: true })
  })
})

t.test('a deletion', async (t) => {
  t.test('behind an upload of equal bytes that followed it', async (t) => {
    const world = versioned()
    world.do(sent({ versionId: THIRD }, null))
    t.match(world.run(deletion({ versionId: SECOND })), LATE)
  })

  t.test('of the very version, where no versions are kept', async (t) => {
    const world = worldWithBucket()
    world.do(sent({ versionId: SECOND }, null))
    t.match(world.run(deletion({ versionId: FIRST })), LATE)
    t.match(world.run(deletion({ versionId: SECOND })), { ok: true, value: { existed: true } })
  })
})
