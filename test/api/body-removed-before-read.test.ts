/** A body that is removed after its version was found and before its first byte was sent. */
import t from 'tap'
import { getObject } from '../../src/operations/objects/get-object.ts'
import { patternBytes } from '../helpers/content-world.ts'
import { BucketClient } from './bucket-client.ts'
import { MultipartClient } from './multipart-client.ts'
import { Workers } from './removal-workers.ts'

const LEVELS = [2, 3] as const

t.test('a body removed between its lookup and its first byte', async (t) => {
  for (const level of LEVELS)
    for (const [what, size] of [
      ['in the rows', 500],
      ['of chunks', 300_000],
    ] as const)
      await t.test(`is read nevertheless when it lies ${what} (level ${level})`, async (t) => {
        const films = await BucketClient.start(t)
        const { memory } = films.world
        memory.featureLevel = level
        const old = patternBytes(size, 1)
        await films.put('k', old)
        const { accessKeyId, secretKey } = await memory.accessKey('acme', 'read')
        const { token } = memory.services.access.exchange({ accessKeyId, secretKey, clientAddress: 'test' })
        const connection = { address: 'test', isSecure: true }
        const principal = memory.services.access.openBearer(`Bearer ${token}`)(connection)
        const found = await getObject(memory.services, principal, {
          bucket: 'films',
          key: 'k',
          versionId: undefined,
        })
        await films.put('k', 'new')
        await new Workers(memory).run()
        const pieces: Uint8Array[] = []
        for await (const piece of found.read({ start: 0, end: size })) pieces.push(piece)
        t.ok(Buffer.concat(pieces).equals(old))
      })

  await t.test('is looked up again, a bounded number of times', async (t) => {
    const photos = await MultipartClient.start(t)
    const { memory } = photos.world
    memory.featureLevel = 2
    const workers = new Workers(memory)
    const { content } = memory.services
    let left = 0
    const assembled = async (): Promise<void> => {
      const upload = { key: 'k', id: await photos.begin('k') }
      await photos.complete(upload, [await photos.part(upload, 1, patternBytes(300_000, left))])
    }
    // An overwrite, with the old body released at once, right after each of the first lookups.
    Object.assign(memory.services, {
      content: {
        read: (...[tenant, object, range]: Parameters<typeof content.read>) => {
          if (left-- <= 0) return content.read(tenant, object, range)
          return (async function* () {
            await assembled()
            await workers.run()
            yield* content.read(tenant, object, range)
          })()
        },
        ingest: content.ingest.bind(content),
        customerSeal: content.customerSeal.bind(content),
        checkCustomerKey: content.checkCustomerKey.bind(content),
      },
    })
    await assembled()
    left = 3
    t.equal((await photos.get('k')).status, 200)
    left = 4
    t.match(await photos.get('k'), { status: 503, code: 'slow_down' })
  })
})
