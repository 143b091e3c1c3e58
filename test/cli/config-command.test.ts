/**
 * `holdfast config check` and `print` as a user types them: exit codes, texts, their places and JSON.
 */
import { spawnSync } from 'node:child_process'
import t from 'tap'
import { examineConfig } from '../../src/config/load-config.ts'
import { startRefusals } from '../../src/config/start-refusals.ts'
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

  await t.test('check says what a start refuses without looking at network or folders', async (t) => {
    for (const [listener, code] of [
      ['data', 'listener_tls_required'],
      ['admin', 'listener_tls_required'],
      ['peer', 'peer_tls_required'],
    ] as const) {
      const file = writeConfig(t, `${SMALLEST}listeners: { ${listener}: '0.0.0.0:9100' }\n`)
      const { config } = examineConfig(file, {})
      if (config === null) throw new Error('the file has no other fault')
      t.match(startRefusals(config, file), [{ setting: `listeners.${listener}`, message: code }])
    }
    const file = writeConfig(t, `${SMALLEST}listeners: { peer: '0.0.0.0:9100' }\n`)
    const { status, stderr } = run('check', '--config', file)
    t.match({ status, stderr }, { status: 2, stderr: /peer_tls_required[^]*peer_tls\.ca/ })
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
