/** A tenant that stores what its quota does not count, and one that turns an upload into a hundred deliveries. (D6, D8) */
import type { Attack, AttackTarget } from './attack.ts'
import { ask } from './call.ts'
import { askJson, mustSucceed, nodeOf, repeatFrom } from './repeat.ts'
import { puts } from './victims.ts'

const LANES = 12
/** As many keys as the quota allows. */
const KEYS = 3
const QUOTA = { maxBytes: 1000, maxObjects: KEYS, maxBuckets: 1 }
const METADATA_CHARACTERS = 1900
const TAGS = Array.from({ length: 10 }, (_, n) => `tag-${n}`.padEnd(128, 'n') + '=' + 'v'.repeat(256)).join(
  '&',
)

export const piledUp: Attack = {
  id: 'D6',
  title:
    'empty versions with 1.9 kB of metadata and 10 full tags, under a quota of 1,000 bytes and 3 objects',
  victim: puts(100_000),
  run: async (target, signal) => {
    await limitTenant(target)
    const { evil } = target
    const headers = {
      authorization: `Bearer ${evil.token}`,
      'x-service-meta-note': 'm'.repeat(METADATA_CHARACTERS),
      'x-service-tagging': TAGS,
    }
    return repeatFrom(LANES, signal, (lane, n) =>
      ask(`${nodeOf(target, lane)}/api/v1/buckets/${evil.bucket}/objects/piled/${n % KEYS}`, {
        method: 'PUT',
        headers,
        body: Buffer.alloc(0),
        signal,
      }),
    )
  },
}

async function limitTenant({ nodes: [node], evil, ownerToken }: AttackTarget): Promise<void> {
  const versioning = `${node?.dataUrl}/api/v1/buckets/${evil.bucket}/versioning`
  await mustSucceed(versioning, { method: 'PUT', token: evil.token, body: { status: 'Enabled' } })
  const quota = `${node?.adminUrl}/admin/api/v1/tenants/${evil.tenantId}/quota`
  await mustSucceed(quota, { method: 'PUT', token: ownerToken, body: QUOTA })
}

const CONFIGS = 100
const UPLOADERS = 4
/** Resolves to an address that is not public, so that no delivery leaves the machine; attempts are made and counted all the same. */
const TARGET_HOST = 'localhost'

export const manyHooks: Attack = {
  id: 'D8',
  title: '100 webhooks of one bucket at one target, uploads from 4 connections',
  victim: puts(100_000),
  run: async (target, signal) => {
    const refusedPort = await setHooks(target, { port: 22, count: 1 })
    const { accepted } = await setHooks(target, { port: 443, count: CONFIGS })
    // Where so many are refused, as many as are allowed.
    const fewer =
      accepted > 0 ? accepted : (await setHooks(target, { port: 443, count: CONFIGS / 10 })).accepted
    const counts = await repeatFrom(UPLOADERS, signal, (lane, n) =>
      ask(`${nodeOf(target, lane)}/api/v1/buckets/${target.evil.bucket}/objects/hooked/${n}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${target.evil.token}` },
        body: Buffer.from(`${n}`),
        signal,
      }),
    )
    const attempts = await attemptsOf(target)
    return {
      'configs at port 22': refusedPort.accepted,
      configs: fewer,
      ...counts,
      'delivery attempts': attempts,
    }
  },
}

async function setHooks(
  { nodes: [node], evil }: AttackTarget,
  { port, count }: { readonly port: number; readonly count: number },
): Promise<{ readonly accepted: number }> {
  const configs = Array.from({ length: count }, (_, n) => ({
    id: `hook-${n}`,
    url: `https://${TARGET_HOST}:${port}/${n}`,
    events: ['object-created'],
  }))
  const url = `${node?.dataUrl}/api/v1/buckets/${evil.bucket}/notifications`
  const { status } = await askJson(url, { method: 'PUT', token: evil.token, body: { configs } })
  return { accepted: status === 200 ? count : 0 }
}

/** Since the start of the nodes. */
async function attemptsOf({ nodes, ownerToken }: AttackTarget): Promise<number> {
  let attempts = 0
  for (const { adminUrl } of nodes) {
    const headers = { authorization: `Bearer ${ownerToken}` }
    const { bytes } = await ask(`${adminUrl}/metrics`, { method: 'GET', headers })
    for (const [, value] of bytes.toString().matchAll(/^holdfast_webhook_deliveries_total\{[^}]*\} (\d+)$/gm))
      attempts += Number(value)
  }
  return attempts
}
