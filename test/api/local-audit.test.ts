/**
 * Audit rows of requests of the command line through the local socket; and `holdfast audit verify`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { auditRowKeys } from '../../src/state-machine/audit/keys.ts'
import { startLocalServer } from '../../src/api/local/local-server.ts'
import { verifyAudit } from '../../src/cli/local/audit-command.ts'
import { askLocalNode } from '../../src/cli/base/local-client.ts'
import { localSocketPath } from '../../src/base/local-socket.ts'
import { grantTokenRequests, leaveTokenRequest } from '../../src/workers/pending-tokens.ts'
import { AuditedWorld } from './audited-world.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'

const TOKEN = {
  tokenId: 'adm_0123456789abcdef',
  name: 'ops',
  role: 'owner',
  tenantId: null,
  expiresAt: null,
  sha256: 'a'.repeat(64),
} as const

t.test('the local socket', async (t) => {
  const audited = await AuditedWorld.start(t)
  const { memory } = audited.world
  const data = mkdtempSync(join(tmpdir(), 'hf-'))
  const server = await startLocalServer(memory.services, localSocketPath(data) ?? '')
  t.teardown(() => {
    server.close()
    rmSync(data, { recursive: true, force: true })
  })
  const newest = async () => (await audited.committed())[0]

  await t.test('is recorded as internal, by the system [audit.every-request]', async (t) => {
    await askLocalNode(data, 'POST', '/admin-tokens', TOKEN)
    t.match(await newest(), {
      api: 'internal',
      operation: 'createAdminToken',
      actor: { type: 'system', id: null },
      status: 200,
      code: null,
      details: { tokenId: TOKEN.tokenId, name: 'ops', role: 'owner', limitedTo: null },
    })
    t.notMatch(JSON.stringify(await newest()), /aaaa/)
    await askLocalNode(data, 'POST', `/admin-tokens/${TOKEN.tokenId}/revoke`)
    t.match(await newest(), { operation: 'revokeAdminToken', details: { tokenId: TOKEN.tokenId } })
    t.strictSame(
      memory.auditRows.filter(({ api }) => api === 'internal'),
      [],
    )
  })

  await t.test('has its reads and refusals recorded at the edge', async (t) => {
    memory.now = Date.now() + 86_400_000
    await askLocalNode(data, 'GET', '/admin-tokens')
    t.match(memory.auditRows.at(-1), {
      api: 'internal',
      operation: 'listAdminTokens',
      status: 200,
      code: null,
    })
    t.ok((memory.auditRows.at(-1)?.time ?? 0) >= memory.now, 'by the time of the cluster')
    await t.rejects(askLocalNode(data, 'GET', '/nothing'), { code: 'not_found' })
    t.match(memory.auditRows.at(-1), { operation: 'unknown', status: 400, code: 'not_found' })
    await t.rejects(askLocalNode(data, 'POST', '/admin-tokens', { name: 'x' }), { code: 'invalid_request' })
    t.match(memory.auditRows.at(-1), { operation: 'createAdminToken', code: 'invalid_request' })
  })

  await t.test('reports the status of the node, without a quorum', async (t) => {
    const { nodeId, clusterId } = memory.services.cluster
    t.match(await askLocalNode(data, 'GET', '/status'), {
      nodeId,
      clusterId,
      pid: process.pid,
      isReady: true,
      reasons: [],
      listeners: { data: /:/, admin: /:/, peer: /:/ },
      masterKeyFingerprint: memory.services.state.get(tenantKeys.clusterKey())?.masterKeyFingerprint ?? null,
    })
    t.match(memory.auditRows.at(-1), { api: 'internal', operation: 'readNodeStatus', status: 200 })
  })

  await t.test('records requests that were left while the node was stopped', async (t) => {
    await leaveTokenRequest(data, {
      wish: 'create',
      token: { ...TOKEN, tokenId: 'adm_fedcba9876543210', sha256: 'b'.repeat(64) },
    })
    await grantTokenRequests(memory.services, data, memory.services.logger)
    t.match(await newest(), { api: 'internal', operation: 'createAdminToken', actor: { type: 'system' } })
  })

  const verify = async (head?: string) => {
    const output: string[] = []
    const write = process.stdout.write.bind(process.stdout)
    process.stdout.write = (text: string | Uint8Array) => output.push(String(text)) > 0
    try {
      const code = await verifyAudit({ data, ...(head === undefined ? {} : { head }) })
      return { code, output: output.join('') }
    } finally {
      process.stdout.write = write
    }
  }

  await t.test('verifies the chain, against a head that was noted too', async (t) => {
    const { code, output } = await verify()
    t.equal(code, 0)
    t.match(
      output,
      /^The audit log is whole from the beginning: \d+ links with \d+ rows\.\nhead \d+:[0-9a-f]{64}\n$/,
    )
    const head = /head (\S+)/.exec(output)?.[1]
    await audited.world.call({
      method: 'PUT',
      path: '/api/v1/buckets/photos/objects/a',
      token: audited.token,
      body: 'a',
    })
    t.equal((await verify(head)).code, 0)
    const other = await verify(`1:${'f'.repeat(64)}`)
    t.equal(other.code, 1)
    t.match(other.output, /NOT whole:\n {2}the chain does not contain the head that was noted at 1 links/)
    await t.rejects(verify('nonsense'), { code: 'invalid_head', exitCode: 2 })
    await t.rejects(askLocalNode(data, 'POST', '/audit/verify', { next: -1 }), { code: 'invalid_request' })
  })

  await t.test('finds a link that was taken out of the store', async (t) => {
    await memory.removeRow(auditRowKeys.auditLink(1))
    const { code, output } = await verify()
    t.equal(code, 1)
    t.match(output, /link 1 is missing, link 2 follows/)
  })

  await t.test('says so when no node runs there', async (t) => {
    await t.rejects(verifyAudit({ data: join(data, 'nowhere') }), { code: 'node_stopped', exitCode: 4 })
  })
})
