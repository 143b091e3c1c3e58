/**
 * The first steps of the README, typed verbatim into shells, against `npm start`'s launcher: an upload, a
 * download, a fourth node that joins and leaves, three machines from their secrets to the first object.
 *
 * Only the ports and the data folder are replaced: the defaults may be in use on the machine that runs the tests.
 */
import { symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startLauncher } from '../helpers/launched-cluster.ts'
import { QUICK_MEMBERS } from '../helpers/member-steps.ts'
import { freeBasePort, temporaryFolder } from '../helpers/process-cluster.ts'
import { TypedMachines } from '../helpers/typed-machines.ts'
import { TypedPage } from '../helpers/typed-page.ts'
import { programsNamed } from '../s3-clients/base/programs.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

t.test('every command of the README works', { timeout: 1_800_000 }, async (t) => {
  // The folder is removed after the cluster has stopped: teardowns run from the last to the first.
  const work = temporaryFolder(t)
  const data = join(work, 'data')
  const config = join(work, 'settings.yaml')
  writeFileSync(config, QUICK_MEMBERS)
  const basePort = await startLauncher(t, data, ['--config', config])
  const machines = new TypedMachines(t, work)
  symlinkSync(data, join(machines.folder(''), 'data'))
  let screen = ''
  const page = new TypedPage({
    page: join(ROOT, 'README.md'),
    local: (text) =>
      text
        .replaceAll('data/n1.yaml', join(data, 'n1.yaml'))
        .replaceAll('package-lock.json', join(ROOT, 'package-lock.json'))
        .replaceAll('npm run -s holdfast --', 'holdfast')
        .replace(/127\.0\.0\.1:9(\d{3})/g, (_, offset: string) => `127.0.0.1:${basePort + Number(offset)}`),
    type: async (machine, lines) => {
      // 'On n1, and so on n2 and n3'.
      const others = machine === 'n1' && lines.includes('n1.yaml') ? ['n2', 'n3'] : []
      const [printed] = await Promise.all([
        machines.type(machine, lines),
        ...others.map((name) => machines.type(name, lines.replaceAll('n1', name))),
      ])
      screen = `${screen}${printed ?? ''}`
      return screen
    },
  })
  await t.test('uploads through one node and downloads through another', async (t) => {
    await page.type(t, 'First object')
    t.match(screen, /the same bytes/)
    t.match(screen, /"keyCount":2/)
  })
  const hasTools = ['aws', 'rclone'].every(
    (name) => programsNamed(name, [name === 'aws' ? '--version' : 'version']).length > 0,
  )
  const skip = hasTools ? false : 'aws or rclone is not installed'
  await t.test('copies a file by tools of S3', { skip }, async (t) => {
    // Settings of this machine's own S3 clients do not reach the page.
    await machines.type('', "unset $(env | sed -n 's/^\\(AWS_[A-Z_]*\\)=.*/\\1/p') no_such_variable\n")
    await page.type(t, 'With S3 tools')
    t.match(screen, /the same through S3/)
  })
  await t.test('joins a fourth node, and removes it again [membership.join]', async (t) => {
    await page.type(t, 'A fourth node')
    t.match(screen, /n4 waits to be added/)
    t.match(screen, /quorum 3, 1 may fail.*\n(n\d .*\n){3}n4  active  voter/)
    t.match(screen, /type +remove\nstatus +succeeded/)
  })
  await t.test('brings three machines to their first object', async (t) => {
    const port = await freeBasePort(1)
    const owner = (text: string): string => text.replace('svcadm_...', /svcadm_\S+/.exec(screen)?.[0] ?? '')
    await page.type(t, 'Three machines', (text) =>
      owner(text)
        .replace('config create', `config create --port ${port} --data-dir data`)
        .replaceAll('/var/lib/holdfast', 'data')
        .replaceAll('10.0.0.', '127.0.0.')
        .replace(/:900(\d)/g, (_, offset: string) => `:${port + Number(offset)}`),
    )
    t.match(screen, /ca\.pem\n$/)
  })
  t.same(page.untyped, hasTools ? [] : ['With S3 tools'], 'nothing else is left to type')
})
