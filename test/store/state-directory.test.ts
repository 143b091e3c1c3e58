/** Which state directory is opened, and which is refused. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { SILENT } from '../helpers/loggers.ts'
import { openStore } from '../../src/store/open-store.ts'
import { StoreWorld, temporaryDirectory } from './store-world.ts'
import { testMetadataKey } from '../helpers/sealed-metadata.ts'

t.test('open', (t) => {
  t.test('refuses a state of another format, of another process, or that it may not read', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const second = openStore({ dir: world.dir, logger: SILENT, metadataKey: testMetadataKey() }).stateMachine
    await t.rejects(second.open(), { name: 'StartError', code: 'state_locked' })
    await world.store.stateMachine.close()
    for (const text of [
      'state-1\n',
      sealed({ format: 4, state: 'state-1' }),
      sealed({ format: 8, state: 'state-1' }),
    ]) {
      writeFileSync(join(world.dir, 'CURRENT'), text)
      const { stateMachine } = openStore({ dir: world.dir, logger: SILENT, metadataKey: testMetadataKey() })
      await t.rejects(stateMachine.open(), { name: 'StartError', code: 'state_format_foreign' })
    }
    const file = join(temporaryDirectory(t), 'a-file')
    writeFileSync(file, '')
    const { stateMachine } = openStore({ dir: file, logger: SILENT, metadataKey: testMetadataKey() })
    await t.rejects(stateMachine.open(), { name: 'StartError', code: 'state_unusable' })
  })

  t.test('begins again where the first state was never finished', async (t) => {
    const dir = temporaryDirectory(t)
    writeFileSync(join(dir, 'CREATING'), 'half')
    mkdirSync(join(dir, 'state-1'))
    writeFileSync(join(dir, 'state-1', 'MANIFEST-000001'), 'half')
    const world = await StoreWorld.open(t, dir)
    t.equal(world.index, 0)
    t.same(readdirSync(dir).sort(), ['CURRENT', 'state-1'])
  })
  t.end()
})

function sealed(value: object): string {
  const json = JSON.stringify(value)
  return `${json} ${crc32(json).toString(16).padStart(8, '0')}\n`
}
