/**
 * Each of the five digests by the check value that its definition publishes, not by the code that is tested.
 */
import t from 'tap'
import { BucketClient } from './bucket-client.ts'

/** Of the nine bytes "123456789". */
const CHECK = {
  CRC32: 'cbf43926',
  CRC32C: 'e3069283',
  CRC64NVME: 'ae8b14860a799888',
  SHA1: 'f7c3bc1d808e04732adf679965ccc34ca7ae3441',
  SHA256: '15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225',
} as const

t.test('every algorithm is verified and kept [objects.put.algorithms]', async (t) => {
  const films = await BucketClient.start(t)
  for (const [algorithm, hex] of Object.entries(CHECK)) {
    const header = `x-service-checksum-${algorithm.toLowerCase()}`
    const digest = Buffer.from(hex, 'hex').toString('base64')
    const refused = await films.put(algorithm, '123456788', { [header]: digest })
    t.match(refused, { status: 400, code: 'checksum_mismatch' }, algorithm)
    t.equal((await films.get(algorithm)).status, 404, 'and nothing is stored')
    const stored = await films.put(algorithm, '123456789', { [header]: digest })
    t.match(stored, { status: 200, json: { checksums: { [algorithm]: digest } } }, algorithm)
    t.equal((await films.head(algorithm)).headers[header], digest)
  }
})
