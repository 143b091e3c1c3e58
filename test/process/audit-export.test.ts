/**
 * Three real nodes export their audit log over TLS while the exporting one is killed, and while the receiver is away: every request that a
 * node has answered arrives, and what arrives twice is the same row.
 */
import t from 'tap'
import { until } from '../helpers/async.ts'
import { ProcessCluster, temporaryFolder } from '../helpers/process-cluster.ts'
import { SyslogServer } from '../workers/audit-export/collectors.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const WRITES = 150

t.test(
  'no audit row is missing outside after the exporting node is killed',
  { timeout: 1_800_000 },
  async (t) => {
    const server = await SyslogServer.start(t)
    const ca = join(temporaryFolder(t), 'ca.pem')
    writeFileSync(ca, server.ca)
    server.faults.push('drop', 'drop')
    const settings = `audit:\n  export:\n    to: syslog\n    url: ${server.url}\n    ca: ${ca}\n`
    const cluster = await ProcessCluster.start(t, 3, settings)
    await cluster.login('n1')
    await cluster.call('n1', 'POST', '/buckets', '{"name":"photos"}')
    const answered: string[] = []
    const write = async (key: string): Promise<void> => {
      for (const nodeId of ['n1', 'n2', 'n3'].filter((one) => cluster.isRunning(one))) {
        const asked = {
          method: 'PUT',
          path: `/buckets/photos/objects/${key}`,
          body: 'x',
          timeoutMs: 10_000,
        } as const
        const answer = await cluster.ask(nodeId, asked).catch(() => null)
        if (answer?.status !== 200) continue
        answered.push(String(answer.headers['x-request-id']))
        return
      }
    }
    for (let n = 0; n < WRITES; n++) {
      await write(`k${n}`)
      if (n !== WRITES / 2) continue
      await until('rows arrive', () => server.messages.some((message) => message.includes('putObject')))
      let leader: string | undefined
      await until('a node leads', async () => (leader = await cluster.leader()) !== undefined)
      await cluster.signal(leader ?? '', 'SIGKILL')
    }
    const rows = new Map<string, string>()
    await until('every row has arrived', () => {
      for (const message of server.messages) {
        const { id, requestId } = JSON.parse(message.slice(message.indexOf('{')))
        if (requestId === undefined) continue
        const known = rows.get(requestId) ?? id
        if (known !== id) throw new Error(`${requestId} is ${known} and ${id}`)
        rows.set(requestId, id)
      }
      return answered.every((requestId) => rows.has(requestId))
    })
    t.ok(answered.length > WRITES / 2)
    t.strictSame(
      answered.filter((requestId) => !rows.has(requestId)),
      [],
    )
  },
)
