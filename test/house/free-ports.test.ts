/**
 * Ports of clusters that start at the same time: no process gets those that another was given, even before a node listens.
 */
import { createServer } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import { freeBasePort } from '../../scripts/local/free-ports.ts'
import { freeBasePort as portsOfTests } from '../helpers/process-cluster.ts'

const NODES = 3
const PORTS = 10 * NODES

t.test('freeBasePort', async (t) => {
  const base = await portsOfTests(NODES)

  t.test('gives no ports that are held, though no node listens yet', async (t) => {
    const none = { message: `Found no free ports from ${base} to ${base + PORTS}` }
    await t.rejects(freeBasePort(1, { from: base, to: base + PORTS }), none)
    await t.rejects(freeBasePort(NODES, { from: base, to: base + PORTS }), none)
  })
  t.test(
    'leaves the ports of the nodes themselves free, and the last of each ten for a receiver',
    async (t) => {
      for (const port of [base, base + 1, base + 2, base + 9, base + 12, base + 22]) {
        const server = createServer().listen(port, '127.0.0.1')
        await t.resolves(once(server, 'listening'), `port ${port - base}`)
        server.close()
      }
    },
  )
})
