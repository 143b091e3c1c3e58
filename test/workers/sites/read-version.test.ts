/** What is read of a version before it is sent. [docs/adr/0098-what-replication-sends.md] */
import t from 'tap'
import { readVersion } from '../../../src/workers/sites/read-version.ts'
import { fresh, put } from '../../state-machine/map-world.ts'
import { completeUpload, createUpload, putPart } from '../../state-machine/upload-commands.ts'
import { StoreWorld } from '../../store/store-world.ts'

const MIB = 1024 ** 2
const chunk = (id: string) => fresh(id, { size: 4 * MIB })

t.test('the sizes of the parts of an assembled version, and its bytes by range', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const { reader: state } = world.store
  const ranges: object[] = []
  const content = {
    read: (_: unknown, __: unknown, range: object) => {
      ranges.push(range)
      return (async function* () {})()
    },
  }
  const read = (key: string, versionId: string) => {
    const change = { changeId: versionId, kind: 'put', key, versionId, bytes: 0, time: 0 } as const
    const site = { tenantId: 'acme', bucketId: world.photos.id }
    return readVersion({ state, content }, site, { ...change, attempts: 0, dueAt: 0, lastError: null })
  }
  const { uploadId } = await world.do(createUpload('parts'))
  for (const [n, chunks] of [[chunk('a'), chunk('b')], [chunk('c'), chunk('d')], ['e']].entries())
    await world.do(putPart({ key: 'parts', uploadId, partNumber: n + 1 }, chunks))
  const object = await world.do(completeUpload({ key: 'parts', uploadId }, 3))
  const version = read('parts', object.versionId)
  t.same(version?.assembledOf, [8 * MIB, 8 * MIB, 10])
  version?.body({ start: 5, end: 7 })
  version?.body()
  t.same(ranges, [
    { start: 5, end: 7 },
    { start: 0, end: object.size },
  ])
  const whole = await world.do(put('whole', { kind: 'empty' }, 0))
  t.notOk('assembledOf' in (read('whole', whole.object.versionId) ?? {}))
  t.equal(read('whole', '0'.repeat(26)), null)
})
