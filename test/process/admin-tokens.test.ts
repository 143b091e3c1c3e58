/**
 * Three real processes: admin tokens that the command line creates and revokes, at a running node, at a stopped one, and at one
 * that was never started; each token is tried at every node.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import t from 'tap'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import { until } from '../helpers/async.ts'
import { withoutLoader } from '../helpers/without-loader.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'

const ROUNDS = 2

interface Minted {
  readonly token: string
  readonly tokenId: string
  readonly inForce: boolean
}

function cli(dataDir: string, ...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(
    ...withoutLoader(process.execPath, nodeProgram(), 'admin-token', ...words, '--data', dataDir, '--json'),
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`${words.join(' ')}: ${stderr}`)
  return stdout
}

const mint = (dataDir: string, name: string): Minted =>
  JSON.parse(cli(dataDir, 'create', '--name', name, '--role', 'viewer')) as Minted

t.test('admin tokens', { timeout: 1_800_000 }, async (t) => {
  let first: Minted | undefined
  const cluster = await ProcessCluster.start(t, 3, null, {
    beforeStart: async ({ plan }) => {
      const dataDir = plan[1]?.dataDir ?? ''
      mkdirSync(dataDir, { mode: 0o700 })
      first = mint(dataDir, 'first')
    },
  })
  const nodes = cluster.plan
  const [n1] = nodes
  if (n1 === undefined || first === undefined) throw new Error('there are three nodes')
  const early = first
  const statusAt = async (adminUrl: string, token: string): Promise<number> => {
    const answer = await fetch(`${adminUrl}/admin/api/v1/tenants`, {
      headers: { authorization: `Bearer ${token}` },
    })
    await answer.text()
    return answer.status
  }
  const everywhere = (token: string, among = nodes) =>
    Promise.all(among.map(({ adminUrl }) => statusAt(adminUrl, token)))

  await t.test('a token made before the first start is valid [admin.tokens.first]', async (t) => {
    t.equal(early.inForce, false)
    await until('it is granted', async () => (await everywhere(early.token)).join() === '200,200,200')
  })

  await t.test(
    'a token made and revoked at one node is valid and refused at all nodes at once [admin.tokens.running] [admin.tokens.revoked]',
    async (t) => {
      for (let round = 0; round < ROUNDS; round++) {
        const made = mint(nodes[round]?.dataDir ?? '', `round-${round}`)
        t.equal(made.inForce, true)
        const { tokens } = JSON.parse(cli(n1.dataDir, 'list')) as { tokens: { tokenId: string }[] }
        t.match(
          tokens.find(({ tokenId }) => tokenId === made.tokenId),
          {
            createdAt: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
            expiresAt: /Z$/,
            revokedAt: null,
            lastUsedAt: null,
          },
        )
        t.same(await everywhere(made.token), [200, 200, 200])
        cli(nodes[(round + 1) % nodes.length]?.dataDir ?? '', 'revoke', made.tokenId)
        t.same(await everywhere(made.token), [401, 401, 401], 'the very next request')
      }
    },
  )

  await t.test(
    'a token made or revoked at a stopped node takes effect when that node starts [admin.tokens.stopped]',
    async (t) => {
      t.equal(await cluster.signal(n1.nodeId, 'SIGTERM'), 0)
      const later = mint(n1.dataDir, 'later')
      t.equal(later.inForce, false)
      cli(n1.dataDir, 'revoke', early.tokenId)
      const others = nodes.slice(1)
      t.same(await everywhere(later.token, others), [401, 401], 'not yet')
      t.same(await everywhere(early.token, others), [200, 200], 'still')
      cluster.startNode(n1.nodeId)
      await cluster.allReady()
      await until('it is granted', async () => (await everywhere(later.token)).join() === '200,200,200')
      await until('it is revoked', async () => (await everywhere(early.token)).join() === '401,401,401')
    },
  )
})
