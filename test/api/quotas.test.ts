/**
 * quota_exceeded: answered before the body is read, and decided at commit. [native: Errors 507]
 */
import t from 'tap'
import { BucketClient, etagOf } from './bucket-client.ts'
import { usageOf } from '../../src/state-machine/usage/usage.ts'

t.test('quota_exceeded [limits.quota] [errors.quota_exceeded]', async (t) => {
  const films = await BucketClient.start(t, { versioning: 'Enabled' })
  const { services } = films.world.memory
  const limit = (maxBytes: number | null, maxObjects: number | null) =>
    services.propose({ type: 'setQuota', tenantId: 'acme', maxBytes, maxObjects, maxBuckets: null })
  const full = { status: 507, code: 'quota_exceeded' }
  await films.put('k', '12345')
  await limit(10, 2)

  await t.test('before a byte of the body is read', async (t) => {
    const before = films.world.memory.proposals
    const answer = await films.world.raw(
      `PUT /api/v1/buckets/films/objects/k HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${films.token}\r\nContent-Length: 6\r\nExpect: 100-continue\r\n\r\n`,
    )
    t.match(answer, /^HTTP\/1\.1 507 [^]*"code":"quota_exceeded"/)
    t.equal(films.world.memory.proposals, before)
  })

  await t.test('in the commit, when the client did not say how much comes', async (t) => {
    const chunked = { 'transfer-encoding': 'chunked', 'content-length': undefined }
    t.match(await films.put('k', '123456', chunked), full)
    t.equal((await films.put('k', '12345', chunked)).status, 200, 'exactly full')
    t.match(await films.put('k', '1'), full, 'all versions count')
    t.equal((await films.put('k', '')).status, 200, 'no bytes always fit')
  })

  await t.test('counts the bytes that a copy would add, and objects separately', async (t) => {
    t.match(await films.copy('copy', { sourceKey: 'k', sourceVersionId: await versionOf(5) }), full)
    await limit(null, 2)
    t.equal((await films.put('second', 'x')).status, 200)
    t.match(await films.put('third', ''), full)
    t.match(await films.copy('third', { sourceKey: 'k' }), full)
    t.equal((await films.put('second', 'y')).status, 200, 'a new version is no new object')
    await limit(null, null)
    t.equal((await films.put('third', 'x')).status, 200)
  })

  await t.test('frees the bytes that an unversioned bucket replaces', async (t) => {
    const photos = films.as({ name: 'photos' })
    await photos.put('k', '0123456789')
    await limit(usageOf(services.state, 'acme').logicalBytes, null)
    t.match(await photos.put('k', '0123456789x'), full)
    const swapped = await photos.put('k', '9876543210')
    t.equal(swapped.status, 200)
    t.equal((await photos.get('k')).headers.etag, `"${etagOf(swapped)}"`)
  })

  await t.test('comes after a precondition and before retention', async (t) => {
    await limit(0, null)
    t.match(await films.put('k', 'x', { 'if-none-match': '*' }), { code: 'precondition_failed' })
    t.match(await films.put('k', 'x', { 'x-service-legal-hold': 'ON' }), full)
    t.match(await films.put('k', '', { 'x-service-legal-hold': 'ON' }), { code: 'object_lock_not_enabled' })
  })

  async function versionOf(size: number): Promise<string> {
    const versions = (await films.versions()).json['versions'] as { size: number; versionId: string }[]
    return versions.find((version) => version.size === size)?.versionId ?? ''
  }
})
