/** The key of a data directory: when it is made, what opens it, and what refuses the start without a change. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { MasterKey } from '../../src/access/master-key.ts'
import { METADATA_KEY_FILE } from '../../cluster/index.ts'
import { openMetadataKey, readMetadataKey } from '../../src/access/metadata-key.ts'
import { openStore } from '../../src/store/open-store.ts'
import { SILENT } from '../helpers/loggers.ts'
import { temporaryDirectory } from '../store/store-world.ts'

const secretOf = (n: number) => ({ id: `mk-${n}`, secret: Buffer.alloc(32, n) })
const keysOf = (...numbers: readonly number[]): MasterKey => MasterKey.of(numbers.map(secretOf))
const sealing = (dataDir: string) => ({ dataDir, sealMetadata: true })

t.test('the metadata key', async (t) => {
  t.test('is made once, and is the same at every start', async (t) => {
    const dataDir = temporaryDirectory(t)
    const key = await openMetadataKey(sealing(dataDir), keysOf(1))
    t.equal(key?.length, 32)
    t.same(readdirSync(dataDir), [METADATA_KEY_FILE])
    t.notOk(readFileSync(join(dataDir, METADATA_KEY_FILE)).includes(Buffer.from(key ?? '')))
    mkdirSync(join(dataDir, 'raft'))
    t.same(await openMetadataKey(sealing(dataDir), keysOf(1)), key)
    t.same(await readMetadataKey(dataDir, keysOf(1)), key)
  })

  t.test('is not made without the setting', async (t) => {
    const dataDir = temporaryDirectory(t)
    t.equal(await openMetadataKey({ dataDir, sealMetadata: false }, keysOf(1)), null)
    t.equal(await readMetadataKey(dataDir, keysOf(1)), null)
    t.same(readdirSync(dataDir), [])
  })

  t.test('follows a rotation: each start wraps it by the keys that the node has', async (t) => {
    const dataDir = temporaryDirectory(t)
    const key = await openMetadataKey(sealing(dataDir), keysOf(1))
    t.same(await openMetadataKey(sealing(dataDir), keysOf(2, 1)), key)
    t.same(await readMetadataKey(dataDir, keysOf(1)), key, 'the old one still opens it')
    t.same(await openMetadataKey(sealing(dataDir), keysOf(2)), key)
    await t.rejects(readMetadataKey(dataDir, keysOf(1)), { code: 'metadata_key_unopened' }, 'and now no more')
  })

  t.test('refuses what does not fit, and changes nothing', async (t) => {
    for (const name of ['raft', 'state', 'audit']) {
      const dataDir = temporaryDirectory(t)
      mkdirSync(join(dataDir, name))
      await t.rejects(openMetadataKey(sealing(dataDir), keysOf(1)), {
        code: 'metadata_key_mismatch',
        message: new RegExp(`holds '${name}' already`),
        hint: /seal-metadata\.md/,
      })
      t.same(readdirSync(dataDir), [name])
    }
    const dataDir = temporaryDirectory(t)
    await openMetadataKey(sealing(dataDir), keysOf(1))
    const before = readFileSync(join(dataDir, METADATA_KEY_FILE), 'utf8')
    await t.rejects(openMetadataKey({ dataDir, sealMetadata: false }, keysOf(1)), {
      code: 'metadata_key_mismatch',
      hint: /node\.seal_metadata: true/,
    })
    await t.rejects(openMetadataKey(sealing(dataDir), keysOf(3)), { code: 'metadata_key_unopened' })
    t.equal(readFileSync(join(dataDir, METADATA_KEY_FILE), 'utf8'), before)
    writeFileSync(join(dataDir, METADATA_KEY_FILE), before.replace('"format":1', '"format":2'))
    await t.rejects(openMetadataKey(sealing(dataDir), keysOf(1)), { code: 'metadata_key_malformed' })
  })

  t.test(
    'that a state was sealed with is the only one that opens it, and none opens a plain one',
    async (t) => {
      const [one, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
      for (const [made, asked] of [
        [one, other],
        [one, null],
        [null, one],
      ] as const) {
        const dir = temporaryDirectory(t)
        const first = openStore({ dir, logger: SILENT, metadataKey: made }).stateMachine
        await first.open()
        await first.close()
        const before = readdirSync(dir)
        await t.rejects(openStore({ dir, logger: SILENT, metadataKey: asked }).stateMachine.open(), {
          code: 'metadata_key_mismatch',
        })
        t.same(readdirSync(dir), before)
        const again = openStore({ dir, logger: SILENT, metadataKey: made }).stateMachine
        t.equal((await again.open()).fault, null, 'and it is not given up')
        await again.close()
      }
    },
  )
  t.end()
})
