/**
 * `holdfast config check` and `print` as a user types them: exit codes, texts, their places and JSON.
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import { withoutLoader } from '../helpers/without-loader.ts'
import { SMALLEST, writeConfig } from '../config/written-config.ts'

function run(...args: readonly string[]) {
  const env = { ...process.env, HOLDFAST_LOGGING__LEVEL: 'debug' }
  return spawnSync(...withoutLoader(process.execPath, nodeProgram(), 'config', ...args), {
    encoding: 'utf8',
    env,
  })
}

t.test('holdfast config', async (t) => {
  const good = writeConfig(t, SMALLEST)
  const bad = writeConfig(t, `${SMALLEST}limits: { chunk_bufers: 5 }\naudit: { strict: yes }\n`)

  await t.test('check ends with 0 and names the node', async (t) => {
    writeFileSync(join(dirname(good), 'key'), `holdfast-master-key-1:mk-1:${'A'.repeat(43)}\n`, {
      mode: 0o600,
    })
    const { status, stdout, stderr } = run('check', '--config', good)
    t.match({ status, stdout, stderr }, { status: 0, stdout: /valid configuration of node n1/, stderr: '' })
  })

  await t.test('check ends with 2 and reports every fault [admin.config-exit]', async (t) => {
    const { status, stdout, stderr } = run('check', '--config', bad)
    t.equal(status, 2)
    t.equal(stdout, '')
    t.match(
      stderr,
      /has 2 faults:[^]*:4: Unknown setting[^]*Did you mean[^]*:5: The setting 'audit\.strict' is wrong/,
    )
  })

  await t.test('check says what a start refuses, and nothing of it with --settings-only', async (t) => {
    const file = writeConfig(t, `${SMALLEST}listeners: { peer: '0.0.0.0:9100' }\n`)
    const { status, stderr } = run('check', '--config', file)
    t.match({ status, stderr }, { status: 2, stderr: /listeners\.peer[^]*without TLS[^]*peer_tls\.ca/ })
    t.match(stderr, /Cannot read the master key file/, 'both are reported')
    const { faults } = JSON.parse(run('check', '--json', '--config', file).stdout)
    t.match(faults, [
      { code: 'peer_tls_required', setting: 'listeners.peer', where: `${file}:4`, hint: /peer_tls/ },
      { code: 'master_key_missing', setting: 'security.master_key_file', where: `${file}:3` },
    ])
    t.equal(run('check', '--settings-only', '--config', file).status, 0)
  })

  await t.test('check reports the same faults as JSON', async (t) => {
    const { status, stdout, stderr } = run('check', '--json', '--config', bad)
    t.match({ status, stderr }, { status: 2, stderr: '' })
    t.match(JSON.parse(stdout), {
      ok: false,
      file: bad,
      faults: [
        { setting: 'limits.chunk_bufers', where: `${bad}:4`, hint: /limits\.chunk_buffers/ },
        { setting: 'audit.strict', where: `${bad}:5` },
      ],
    })
  })

  await t.test('print shows values with their origins, or the faults', async (t) => {
    const printed = run('print', '--config', good)
    t.equal(printed.status, 0)
    t.match(printed.stdout, /level: debug +# environment variable HOLDFAST_LOGGING__LEVEL/)
    const { settings } = JSON.parse(run('print', '--json', '--config', good).stdout)
    t.match(settings[0], { name: 'node.id', value: 'n1', origin: 'file', where: `${good}:1` })
    t.equal(run('print', '--config', bad).status, 2)
    t.equal(run('print').status, 2, 'wrong use')
  })
})
