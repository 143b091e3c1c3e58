/**
 * Tables of requests that the S3 API has to refuse.
 *
 * Owns: what is compared after each row: the answer, and what readers see of the tenant, with its usage.
 */
import type { Test } from 'tap'
import type { S3Answer, S3World } from './s3-world.ts'

export type Row = readonly [name: string, send: () => Promise<S3Answer>, status: number, code: string]

/** Without limits of callers that prove nothing, and of the look at the usage after each row. */
export const MANY = {
  limits: { unprovedRequestsPerMinute: 1_000_000, unprovedBurst: 100_000, adminRequestsBurst: 10_000 },
}
export const PUT = { method: 'PUT', path: '/photos/k', body: 'bytes' }

const OWNERS = new WeakMap<S3World['world'], string>()
const BUCKET = '/api/v1/buckets/photos'

/** What readers see of the tenant. */
async function stored({ world, token }: S3World): Promise<string> {
  const paths = ['/api/v1/buckets', BUCKET, `${BUCKET}/versions`, `${BUCKET}/multipart`, `${BUCKET}/cors`]
  const seen = await Promise.all(paths.map((path) => world.send({ path, token })))
  const owner = OWNERS.get(world) ?? (await world.memory.adminToken('owner'))
  OWNERS.set(world, owner)
  const usage = await world.send({ path: '/admin/api/v1/tenants/acme/usage', token: owner, admin: true })
  const { asOf: _, ...figures } = usage.json
  return JSON.stringify([...seen.map(({ json: { requestId: _id, ...json } }) => json), figures])
}

/** Sends each row, and asserts that it is refused as the row says and that no reader sees a difference. */
export async function refuses(t: Test, s3: S3World, rows: readonly Row[]): Promise<void> {
  let before = await stored(s3)
  for (const [name, send, status, code] of rows) {
    const answer = await send()
    const found = `${answer.status} ${answer.s3Code}`
    t.equal(found, `${status} ${code}`, `${name}: ${answer.bytes.toString().slice(0, 200)}`)
    const after = await stored(s3)
    t.equal(after, before, `${name}: nothing is stored`)
    before = after
    t.notOk(answer.bytes.includes(s3.secret.secretKey), `${name}: no secret is shown`)
  }
}
