/** Ctrl-C while a command with `--wait` has sent its request and has no answer yet. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { CommandLine, ended } from '../helpers/command-line.ts'

const OPERATION = { operationId: 'op_1', type: 'scrub', status: 'running' }

t.test('names the operation that continues', async (t) => {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      if (request.method === 'POST') child.kill('SIGINT')
      response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify(OPERATION))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const env = { HOLDFAST_ADMIN_ENDPOINT: `http://127.0.0.1:${port}`, HOLDFAST_ADMIN_TOKEN: 'svcadm_test' }
  const line = new CommandLine({ cwd: process.cwd(), env })
  const child = line.start(['cluster', 'scrub', '--reason', 'tests', '--wait'])
  const over = ended(child)
  let reported = ''
  child.stderr?.on('data', (piece) => (reported += String(piece)))
  t.equal(await over, 1)
  t.match(reported, 'The operation continues; follow it with holdfast cluster operations watch op_1')
})
