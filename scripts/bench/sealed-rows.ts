/**
 * `node scripts/bench/sealed-rows.ts [--rounds 20000]`: what it would cost to seal the rows of the metadata, values with AES-256-GCM and keys so that equal
 * keys stay equal (a synthetic IV by HMAC-SHA256, then AES-256-CTR). Nothing in the product does this; the figures are in docs/adr/0088.
 *
 * Owns: the rows of one PUT, the times. Rule: processor time of this process, not the time on the wall; the rows are those that apply writes.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { wholeNumber } from '../local/options.ts'
import { OneNode } from './one-node.ts'
import { keyAt, LARGE_BUCKET } from './listing-rows.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import { usageKeys } from '../../src/state-machine/usage/keys.ts'
import { encodeRow, keyBytes } from '../../src/store/rows/row-codec.ts'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'

const TAG_BYTES = 16
const NONCE_BYTES = 12
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20000' } } })

function sealValue(key: Buffer, value: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()])
}

function openValue(key: Buffer, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
}

function sealKey(keys: { readonly mac: Buffer; readonly enc: Buffer }, text: Uint8Array): Buffer {
  const iv = createHmac('sha256', keys.mac).update(text).digest().subarray(0, TAG_BYTES)
  return Buffer.concat([iv, createCipheriv('aes-256-ctr', keys.enc, iv).update(text)])
}

/** Microseconds of the processor for one call. */
function timed(rounds: number, work: () => void): number {
  for (let n = 0; n < rounds / 10; n++) work()
  const before = process.cpuUsage()
  for (let n = 0; n < rounds; n++) work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / rounds
}

/** The rows of one small PUT with their keys, and those that a GET of it and one item of a listing read. */
async function rowsOfPut(): Promise<readonly (readonly [Uint8Array, Buffer])[]> {
  const node = new OneNode('sealed-rows')
  await node.open()
  try {
    await node.fill(1)
    const bucket = node.reader.get(bucketKeys.bucket('acme', LARGE_BUCKET))
    if (bucket === undefined) throw new Error('the bucket is there')
    const object = versionKeys.object(bucket.id, keyAt(0))
    const rows = [
      [object, node.reader.get(object)],
      [bucketKeys.bucket('acme', LARGE_BUCKET), bucket],
      [tenantKeys.tenant('acme'), node.reader.get(tenantKeys.tenant('acme'))],
      [usageKeys.usage('acme'), node.reader.get(usageKeys.usage('acme'))],
    ] as const
    return rows.map(([name, row]) => {
      if (row === undefined) throw new Error('the row is there')
      const key = keyBytes(name)
      return [key, encodeRow(key, row)] as const
    })
  } finally {
    await node.close()
  }
}

const rounds = wholeNumber(values.rounds, '--rounds', { min: 1_000, max: 10_000_000 })
const key = randomBytes(32)
const keys = { mac: randomBytes(32), enc: randomBytes(32) }
const rows = await rowsOfPut()
const mean = (of: (row: readonly [Uint8Array, Buffer]) => number): number =>
  rows.reduce((sum, row) => sum + of(row), 0) / rows.length
const seal = mean(([, value]) => timed(rounds, () => sealValue(key, value)))
const open = mean(([, value]) => {
  const sealed = sealValue(key, value)
  return timed(rounds, () => openValue(key, sealed))
})
const name = mean(([text]) => timed(rounds, () => sealKey(keys, text)))
const lengths = rows.map(([text, value]) => `${text.length} + ${value.length}`).join(', ')
process.stdout.write(
  `Node ${process.versions.node}; rows of an object, a bucket, a tenant and usage (bytes of key + value: ${lengths}), mean of the four, processor time:
seal a value ${seal.toFixed(1)} us, open a value ${open.toFixed(1)} us, seal a key ${name.toFixed(1)} us
`,
)
