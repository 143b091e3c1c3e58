/** What a node tells systemd, and that nothing of it stops a node. The real systemd receives it in `scripts/release/try-deb.sh`. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { serviceManagerOf, signEveryMs } from '../../src/cli/local/notify-systemd.ts'
import { until } from '../helpers/async.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'

function manager(t: Test, env: Readonly<Record<string, string>>) {
  const warnings: string[] = []
  const folder = temporaryFolder(t)
  const log = join(folder, 'log')
  const program = join(folder, 'systemd-notify')
  writeFileSync(program, `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> ${log}\n`)
  chmodSync(program, 0o755)
  const path = { PATH: `${folder}:${process.env['PATH']}` }
  return {
    warnings,
    program,
    sent: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
    manager: serviceManagerOf({
      env: { ...path, ...env },
      pid: 7,
      monotonicMicros: () => 123n,
      warn: ({ message }) => void warnings.push(message),
    }),
  }
}

t.test('a node that systemd started', async (t) => {
  const env = { NOTIFY_SOCKET: '/run/x', WATCHDOG_USEC: '30000' }
  const { manager: systemd, sent, warnings } = manager(t, env)
  systemd.ready('serving')
  systemd.reloading()
  systemd.ready('serving')
  await until('signs of life', () => sent().filter((line) => line.endsWith('WATCHDOG=1')).length >= 2)
  systemd.stopping()
  await systemd.close()
  t.same(
    sent().filter((line) => !line.endsWith('WATCHDOG=1')),
    [
      '/run/x READY=1 STATUS=serving',
      '/run/x RELOADING=1 MONOTONIC_USEC=123',
      '/run/x READY=1 STATUS=serving',
      '/run/x STOPPING=1 STATUS=stopping',
    ],
    'in this order',
  )
  t.same(warnings, [])
})

t.test('a node that it did not start sends nothing', async (t) => {
  const { manager: none, sent } = manager(t, { WATCHDOG_USEC: '30000' })
  none.ready('serving')
  none.stopping()
  await none.close()
  t.same(sent(), [])
})

t.test('a message that cannot be sent is reported once, and stops nothing', async (t) => {
  const { manager: systemd, program, warnings } = manager(t, { NOTIFY_SOCKET: '/run/x' })
  writeFileSync(program, '#!/bin/sh\nexit 3\n')
  systemd.ready('serving')
  systemd.stopping()
  await systemd.close()
  t.equal(warnings.length, 1)
})

t.test('signs of life leave three times a period, if they are meant for this process', async (t) => {
  const every = (env: Record<string, string>): number | null => signEveryMs({ env, pid: 7 })
  t.equal(every({ WATCHDOG_USEC: '120000000' }), 40_000)
  t.equal(every({ WATCHDOG_USEC: '120000000', WATCHDOG_PID: '7' }), 40_000)
  t.equal(every({ WATCHDOG_USEC: '120000000', WATCHDOG_PID: '8' }), null)
  t.equal(every({}), null)
  t.equal(every({ WATCHDOG_USEC: 'soon' }), null)
})
