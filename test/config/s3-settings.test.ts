/** Where the S3 API finds buckets, and the region that it reports. */
import t from 'tap'
import { examined, SMALLEST } from './written-config.ts'

t.test('listeners.s3_domain', async (t) => {
  t.same(examined(t, SMALLEST).config?.listeners.s3Domains, [], 'need not be given')
  const written = (domains: string) => examined(t, `${SMALLEST}listeners:\n  s3_domain: ${domains}\n`)
  t.same(written('s3.example.org,objects').config?.listeners.s3Domains, ['s3.example.org', 'objects'])
  for (const wrong of ['S3.example.org', 'a,,b', 'a b', 'https://a', "''"])
    t.equal(written(wrong).config, null, wrong)
})

t.test('security.s3_region', async (t) => {
  t.equal(examined(t, SMALLEST).config?.security.s3Region, 'us-east-1')
})
