/**
 * `holdfast config check` and `holdfast server` as an operator types them, on configurations that a start refuses: the same text on
 * standard error. The whole table is in test/config/broken-configurations.test.ts.
 */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import { MasterKey } from '../../src/access/master-key.ts'
import { type BrokenConfiguration, CONTRADICTIONS, OF_DATA, ofFiles } from '../config/broken-files.ts'
import { withSettings } from '../config/written-config.ts'
import { withoutLoader } from '../helpers/without-loader.ts'
import { MadeCertificates } from '../transport/made-certificates.ts'

function run(...args: readonly string[]) {
  return spawnSync(...withoutLoader(process.execPath, nodeProgram(), ...args), { encoding: 'utf8' })
}

async function configuration(t: Test, { settings = {}, prepare }: Partial<BrokenConfiguration>) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-broken-start-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o700)
  await MasterKey.create(join(folder, 'key'))
  prepare?.(folder)
  const file = join(folder, 'node.yaml')
  writeFileSync(file, withSettings(settings))
  return file
}

t.test('a check and a start print the same refusal', async (t) => {
  const rows = [...CONTRADICTIONS, ...OF_DATA, ...ofFiles(new MadeCertificates(t))]
  for (const what of [
    'an unknown setting',
    'several faults',
    'a plain peer listener that other machines reach',
    'a node that is no member',
    'the data of another node',
    'security.master_key_file: a missing file',
    'peer_tls.cert: a certificate of another node',
    'data_tls.key: a folder',
  ]) {
    const row = rows.find((each) => each.what === what)
    const file = await configuration(t, row ?? {})
    const check = run('config', 'check', '--config', file)
    const start = run('server', '--config', file)
    t.match([check.status, start.status], [2, 1], what)
    t.match(check.stderr, /^error: [^]+\n {2}\S/, `${what}: an error with a hint`)
    t.equal(check.stderr, start.stderr, `${what}: the same text`)
  }
})

t.test('a port of another process is what only a start finds', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const taken = `127.0.0.1:${(other.address() as AddressInfo).port}`
  const free = { 'listeners.admin': '127.0.0.1:0', 'listeners.peer': '127.0.0.1:0' }
  const file = await configuration(t, { settings: { ...free, 'listeners.data': taken } })
  t.match(run('config', 'check', '--config', file), { status: 0, stderr: '' })
  t.match(run('server', '--config', file), { status: 1, stderr: /already in use[^]*listeners\.data/ })
})
