/**
 * What an install takes from its source, on a small state: only rows that the source has, and that its checksum covers.
 */
import { AssertionError } from 'node:assert/strict'
import { hash } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import type { StateBlock, StateSource } from '../../cluster/index.ts'
import { openDatabase } from '../../src/store/rows/open-database.ts'
import { testCipher } from '../helpers/sealed-metadata.ts'
import { frameRow } from '../../src/store/rows/row-block.ts'
import { keyBytes, sealRow } from '../../src/store/rows/row-codec.ts'
import { rowHash, RowSum } from '../../src/store/rows/row-sum.ts'
import { pullInto } from '../../src/store/snapshots/state-install.ts'
import { ALL_ROWS, scanRows } from '../../src/store/rows/state-rows.ts'
import { recordOf, StoreWorld, temporaryDirectory } from './store-world.ts'

/** One block for each row. */
function sourceOf(names: readonly string[], change: Partial<StateSource> = {}): StateSource {
  const rows = names.map((name) => {
    const key = keyBytes(name)
    return { key, value: sealRow(key, Buffer.from(`value of ${name}`)) }
  })
  const sum = new RowSum()
  for (const { key, value } of rows) sum.add(rowHash(key, value))
  const block = async ({ after }: { readonly after: Uint8Array }): Promise<StateBlock> => {
    const position = rows.findIndex(({ key }) => Buffer.compare(key, after) > 0)
    const row = rows[position]
    if (row === undefined) throw new Error('The source was asked beyond its end')
    const bytes = frameRow(row.key, row.value)
    const isEnd = position === rows.length - 1
    return { rows: bytes, digest: hash('sha256', bytes, 'buffer'), through: row.key, isEnd }
  }
  return { record: recordOf(7), checksum: sum.bytes(), block, ...change }
}

async function namesIn(location: string): Promise<string[]> {
  const db = await openDatabase(location, { create: false, separates: false }, testCipher('rows'))
  const names: string[] = []
  for await (const rows of scanRows(db, ALL_ROWS)) for (const { key } of rows) names.push(key.toString())
  await db.close()
  return names
}

const quiet = (): void => undefined

t.test('pullInto', async (t) => {
  t.test('gathers the rows of the source', async (t) => {
    const location = join(temporaryDirectory(t), 'incoming')
    await pullInto(location, sourceOf(['a', 'b', 'c']), {
      onStep: quiet,
      separates: true,
      cipher: testCipher('rows'),
    })
    t.strictSame(await namesIn(location), ['a', 'b', 'c'])
  })

  t.test('takes no block whose digest is of other rows', async (t) => {
    const honest = sourceOf(['a', 'b'])
    const block: StateSource['block'] = async (request) => {
      return { ...(await honest.block(request)), digest: Buffer.alloc(32) }
    }
    const location = join(temporaryDirectory(t), 'incoming')
    await t.rejects(
      pullInto(
        location,
        { ...honest, block },
        { onStep: quiet, separates: true, cipher: testCipher('rows') },
      ),
      {
        message: /digest of a block/,
      },
    )
    t.strictSame(await namesIn(location), [])
  })

  t.test('takes no rows that do not add up to the checksum of the source', async (t) => {
    const location = join(temporaryDirectory(t), 'incoming')
    const { checksum } = sourceOf(['a', 'b', 'c'])
    await t.rejects(
      pullInto(location, sourceOf(['a', 'b'], { checksum }), {
        onStep: quiet,
        separates: true,
        cipher: testCipher('rows'),
      }),
      {
        message: /do not add up/,
      },
    )
  })

  t.test('keeps no row of an earlier attempt that the source has no longer', async (t) => {
    const location = join(temporaryDirectory(t), 'incoming')
    const { checksum } = sourceOf(['z'])
    await t.rejects(
      pullInto(location, sourceOf(['a', 'b', 'c', 'd'], { checksum }), {
        onStep: quiet,
        separates: true,
        cipher: testCipher('rows'),
      }),
    )
    await pullInto(location, sourceOf(['a', 'c']), {
      onStep: quiet,
      separates: true,
      cipher: testCipher('rows'),
    })
    t.strictSame(await namesIn(location), ['a', 'c'])
  })
})

t.test('LevelStateMachine applies nothing while it installs', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const { stateMachine } = world.store
  const source = sourceOf(['a'], { block: () => Promise.reject(new Error('the source is gone')) })
  const installed = stateMachine.install(source)
  await t.rejects(stateMachine.apply({ entries: [], record: recordOf(9) }), AssertionError)
  await t.rejects(installed, { message: 'the source is gone' })
})
