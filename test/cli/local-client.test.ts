/** What the command line does while the node of its data directory cannot serve yet. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { localSocketPath } from '../../src/base/local-socket.ts'
import { askLocalNode } from '../../src/cli/base/local-client.ts'

interface Problem {
  readonly code: string
  readonly message: string
}

/** A node that answers 503 with each of these, then 200. Returns its data directory and what it received. */
async function nodeThatAnswers(t: Test, problems: readonly Problem[]) {
  // The path of a unix socket is short: directories of the test runner are not.
  const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const received: string[] = []
  const server = createServer((request, response) => {
    const problem = problems[received.length]
    received.push(`${request.method} ${request.url}`)
    response.writeHead(problem === undefined ? 200 : 503).end(JSON.stringify(problem ?? { done: true }))
  })
  await new Promise<void>((resolve) => server.listen(localSocketPath(dataDir) ?? '', resolve))
  t.teardown(() => server.close())
  return { dataDir, received }
}

t.test('askLocalNode', async (t) => {
  await t.test('sends the request again while the node has only just started', async (t) => {
    const { dataDir, received } = await nodeThatAnswers(t, [
      { code: 'no_leader', message: 'there is no leader yet' },
      { code: 'leader_not_ready', message: 'the master key has not been compared yet' },
    ])
    t.strictSame(await askLocalNode(dataDir, 'POST', '/admin-tokens', {}), { done: true })
    t.strictSame(received, Array(3).fill('POST /admin-tokens'))
  })

  await t.test('sends it once when the outcome is unknown', async (t) => {
    const { dataDir, received } = await nodeThatAnswers(t, [
      { code: 'commit_unknown', message: 'the change may have been made' },
    ])
    await t.rejects(askLocalNode(dataDir, 'POST', '/admin-tokens', {}), { code: 'commit_unknown' })
    t.equal(received.length, 1)
  })
})
