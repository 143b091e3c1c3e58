/**
 * `docs/guide/three-machines.md`, typed into the shells of a desk and three nodes; what is printed is compared with the page.
 *
 * Only addresses, ports and the data folder are replaced: three addresses of loopback stand for three machines.
 */
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from '../../scripts/supply-chain/lockfile.ts'
import { freeBasePort, temporaryFolder } from '../helpers/process-cluster.ts'
import { TypedMachines } from '../helpers/typed-machines.ts'
import { TypedPage } from '../helpers/typed-page.ts'

t.test('three machines', { timeout: 900_000 }, async (t) => {
  const machines = new TypedMachines(t, temporaryFolder(t))
  const port = await freeBasePort(1)
  let screen = ''
  const page = new TypedPage({
    page: join(ROOT, 'docs', 'guide', 'three-machines.md'),
    local: (text) =>
      text
        .replace('svcadm_...', /svcadm_\S+/.exec(screen)?.[0] ?? '')
        .replace('config create', `config create --port ${port} --data-dir data`)
        // There is no service: the node is a child of the shell.
        .replace('systemctl kill --signal=KILL holdfast', 'kill -9 "$(cat server.pid)"')
        .replaceAll('/var/lib/holdfast', 'data')
        .replaceAll('10.0.0.', '127.0.0.')
        .replace(/:900(\d)/g, (_, offset: string) => `:${port + Number(offset)}`),
    type: async (machine, lines) => {
      // 'On n1, and so on n2 and n3'.
      const others = machine === 'n1' && lines.includes('n1.yaml') ? ['n2', 'n3'] : []
      const [printed] = await Promise.all([
        machines.type(machine, lines),
        ...others.map((name) => machines.type(name, lines.replaceAll('n1', name))),
      ])
      screen = `${screen}${printed}`
      return printed
    },
  })
  await page.typeAll(t)
  t.same(page.untyped, [])
})
