/**
 * How the audit log is stored, as `holdfast doctor` and the metrics report it, over a real state and the local socket.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startLocalServer } from '../../src/api/local/local-server.ts'
import { localSocketPath } from '../../src/base/local-socket.ts'
import { auditFacts } from '../../src/cli/doctor/status-facts.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { memberKeys } from '../../src/state-machine/members/keys.ts'
import { AUDIT_OWNER } from '../../src/state-machine/base/record-ids.ts'
import { SealingWorld } from '../workers/sealing-world.ts'
import { auditRowKeys } from '../../src/state-machine/audit/keys.ts'
import { usageOf } from '../../src/state-machine/usage/usage.ts'

t.test('the status of the audit log', async (t) => {
  const world = await SealingWorld.start(t)
  const { memory } = world
  const data = mkdtempSync(join(tmpdir(), 'hf-'))
  const server = await startLocalServer(memory.services, localSocketPath(data) ?? '')
  t.teardown(() => {
    server.close()
    rmSync(data, { recursive: true, force: true })
  })
  const asked = () => auditFacts(data, { kind: 'answering', status: null })

  await t.test(
    'counts links in rows, with the time of the oldest, and segments with their bytes',
    async (t) => {
      await world.log(3)
      const oldest = memory.reader.get(auditRowKeys.auditLink(0))?.time
      t.match(await asked(), { unsealed: { links: 3, oldest }, segments: 0, bytes: 0, lookedAt: 0 })
      await world.sealAll()
      await world.log(2)
      await world.sealAll()
      await world.log(1)
      const { storedBytes } = usageOf(memory.reader, AUDIT_OWNER)
      const counts = { segments: 2, bytes: storedBytes, lookedAt: 2, incomplete: 0, lost: 0 }
      t.match(await asked(), { unsealed: { links: 1 }, ...counts })
    },
  )

  await t.test('distinguishes segments that owe a copy from those listed only on lost members', async (t) => {
    const { id, birth } = await world.copyOf(0)
    const copies = [{ tenantId: AUDIT_OWNER, chunkId: id, birth }]
    await memory.change({ type: 'dropReplicas', node: 'n2', copies, operation: null })
    t.match(await asked(), { lookedAt: 2, incomplete: 1, lost: 0 })
    const other = await world.copyOf(1)
    const row = memory.reader.get(chunkKeys.chunk(AUDIT_OWNER, other.id))
    if (row === undefined) throw new Error('There are two segments')
    await memory.writeRow(chunkKeys.chunk(AUDIT_OWNER, other.id), { ...row, replicas: ['n8', 'n9'] })
    await memory.writeRow(memberKeys.leavingNodes(), { nodes: ['n8', 'n9'] })
    t.match(await asked(), { lookedAt: 2, incomplete: 1, lost: 1 })
  })

  await t.test('is unknown for a stopped node and for a version without this question', async (t) => {
    t.equal(await auditFacts(data, { kind: 'stopped' }), null)
    t.equal(await auditFacts(join(data, 'nowhere'), { kind: 'answering', status: null }), null)
  })
})
