/**
 * `holdfast import` when a source fails, lies or refuses: what is waited out, what is verified, what is explained.
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { BytesRate } from '../../../src/cli/import/bytes-rate.ts'
import { SourceClient } from '../../../src/cli/import/source-client.ts'
import { bytesOf, getSource } from '../../../src/cli/import/source-object.ts'
import { collected } from '../../helpers/async.ts'
import { Condition } from '../../../cluster/index.ts'
import { newAuthority, newNodePair, readAuthority } from '../../../src/cli/certificates/authority.ts'
import { temporaryFolder } from '../../helpers/process-cluster.ts'
import { FakeSource, refuse } from './fake-source.ts'
import { importWorld } from './import-world.ts'

const BODY = Buffer.from('0123456789'.repeat(1000))
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64')

t.test('what passes is waited out', async (t) => {
  await t.test('a busy source, and a connection that breaks inside a listing', async (t) => {
    const { source, lines } = await importWorld(t)
    source.put('photos', 'a', 'a')
    let times = 0
    source.odd = {
      intercept: (_, response) => {
        times += 1
        if (times === 1) refuse(response, 503, 'SlowDown', { headers: { 'retry-after': '0' } })
        else if (times === 2) refuse(response, 400, 'RequestTimeout')
        else if (times === 3) response.writeHead(200).write('<ListBucketResult>', () => response.destroy())
        else if (times === 5) refuse(response, 429, 'TooManyRequests')
        else return false
        return true
      },
    }
    t.match((await lines('s3://photos')).lines.at(-1), { summary: { copied: 1, failed: 0 } })
  })

  await t.test('a busy target', async (t) => {
    const { source, lines, world } = await importWorld(t)
    source.put('photos', 'a', 'a')
    let puts = 0
    world.memory.proposeFault = new Condition('commit_unknown', 'May or may not')
    world.dataServer.server.prependListener('request', ({ method }) => {
      if (method === 'PUT') puts += 1
      if (puts === 2) world.memory.proposeFault = null
    })
    t.match((await lines('s3://photos')).lines.at(-1), { summary: { copied: 1, failed: 0 } })
    t.equal(puts, 2)
  })

  await t.test(
    'a connection that breaks inside an object, from where it broke and of the same version',
    async (t) => {
      const { source, get, lines } = await importWorld(t)
      source.put('photos', 'a', { body: BODY })
      let cuts = 0
      source.odd = {
        intercept: ({ path, method }, response) => {
          if (path !== '/photos/a' || method !== 'GET' || cuts === 1) return false
          cuts += 1
          const etag = createHash('md5').update(BODY).digest('hex')
          response.writeHead(200, { 'content-length': BODY.length, etag: `"${etag}"` })
          response.write(BODY.subarray(0, 3000), () => response.destroy())
          return true
        },
      }
      t.match((await lines('s3://photos')).lines.at(-1), { summary: { copied: 1, failed: 0 } })
      t.ok((await get('photos/objects/a')).bytes.equals(BODY))
      t.match(source.reads[1], /^\/photos\/a bytes=\d+-9999$/)
      t.match(source.asked.at(-1)?.ifMatch, /^"[0-9a-f]{32}"$/)
    },
  )
})

t.test('bytes', async (t) => {
  await t.test('that are not those of the source are tried again, and never stored', async (t) => {
    const { source, get, lines } = await importWorld(t)
    source.put('photos', 'md5', { body: BODY, etag: createHash('md5').update('other').digest('hex') })
    source.put('photos', 'sha256', {
      body: BODY,
      headers: { 'x-amz-checksum-sha256': sha256(Buffer.from('other')) },
    })
    const { code, lines: printed } = await lines('s3://photos')
    t.match(printed, [
      {
        action: 'failed',
        path: 'photos/md5',
        code: 'checksum_mismatch',
        message: /MD5 .*, but the source keeps/,
      },
      { action: 'failed', path: 'photos/sha256', code: 'checksum_mismatch', message: /SHA256 / },
      { summary: { copied: 0, failed: 2 } },
    ])
    t.equal(code, 1)
    t.same(source.reads.toSorted(), [
      '/photos/md5',
      '/photos/md5',
      '/photos/md5',
      '/photos/sha256',
      '/photos/sha256',
      '/photos/sha256',
    ])
    for (const key of ['md5', 'sha256']) t.equal((await get(`photos/objects/${key}`)).status, 404)
    t.match((await lines('s3://photos', '--no-etag-md5')).lines, [
      { path: 'photos/md5', verified: [] },
      {},
      { summary: { copied: 1, failed: 1, withoutChecksum: 1 } },
    ])
  })

  await t.test('are verified against each checksum that S3 knows', async (t) => {
    const { source, lines } = await importWorld(t)
    // The check values of the CRC catalogue, and SHA-1 as in FIPS 180.
    const known: Readonly<Record<string, string>> = {
      crc32: 'cbf43926',
      crc32c: 'e3069283',
      crc64nvme: 'ae8b14860a799888',
      sha1: 'f7c3bc1d808e04732adf679965ccc34ca7ae3441',
      sha256: createHash('sha256').update('123456789').digest('hex'),
    }
    for (const [algorithm, value] of Object.entries(known))
      source.put('photos', algorithm, {
        body: Buffer.from('123456789'),
        headers: { [`x-amz-checksum-${algorithm}`]: Buffer.from(value, 'hex').toString('base64') },
      })
    const { code, lines: printed } = await lines('s3://photos')
    t.equal(code, 0)
    t.same(
      printed.slice(0, -1).map(({ verified }) => verified),
      ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'].map((algorithm) => [algorithm]),
    )
  })

  await t.test(
    'count as not verified where the source keeps checksums of parts, or encrypts with a key of its own',
    async (t) => {
      const { source, run } = await importWorld(t)
      source.put('photos', 'parts', {
        body: BODY,
        etag: '0123456789abcdef0123456789abcdef-2',
        headers: { 'x-amz-checksum-sha256': `${sha256(BODY)}-2` },
      })
      source.put('photos', 'kms', {
        body: BODY,
        etag: '0123456789abcdef0123456789abcdef',
        headers: { 'x-amz-server-side-encryption': 'aws:kms' },
      })
      source.put('photos', 'composite', {
        body: BODY,
        etag: 'e-2',
        headers: {
          'x-amz-checksum-sha256': sha256(Buffer.from('other')),
          'x-amz-checksum-type': 'COMPOSITE',
        },
      })
      const { code, err } = await run('s3://photos')
      t.equal(code, 0)
      t.match(err, /3 copied {2}\(29\.3 KiB\)\nThe source keeps no checksum of 3 of them as a whole/)
    },
  )
})

t.test('bytes that the target says it stored otherwise are reported', async (t) => {
  const { source, lines, world } = await importWorld(t)
  source.put('photos', 'a', { body: BODY })
  const target = createServer((request, response) => {
    const { headers, method, url: path } = request
    const to = { host: '127.0.0.1', port: world.dataPort, method, path, headers }
    const passed = httpRequest(to, (answer) => {
      const pieces: Buffer[] = []
      answer.on('data', (piece: Buffer) => pieces.push(piece))
      answer.on('end', () => {
        const { 'content-length': _, ...others } = answer.headers
        response.writeHead(answer.statusCode ?? 500, others)
        response.end(
          Buffer.concat(pieces)
            .toString()
            .replace(/"CRC64NVME":"[^"]*"/, '"CRC64NVME":"AAAAAAAAAAA="'),
        )
      })
    })
    request.pipe(passed)
  })
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve))
  t.teardown(() => (target.closeAllConnections(), target.close()))
  const { port } = target.address() as AddressInfo
  const { code, lines: printed } = await lines('s3://photos', '--target-endpoint', `http://127.0.0.1:${port}`)
  t.match(printed, [{ action: 'failed', code: 'stored_differently' }, { summary: { failed: 1, copied: 0 } }])
  t.equal(code, 1)
})

t.test('bytes pass at the rate, and no faster', async (t) => {
  const { source } = await importWorld(t)
  source.put('photos', 'a', { body: BODY })
  let now = 0
  const clock = { now: () => now, wait: async (ms: number) => void (now += ms) }
  const { signal } = new AbortController()
  const client = new SourceClient({
    endpoint: new URL(source.endpoint),
    isVirtualHost: false,
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKID', secretKey: 'a secret', sessionToken: null },
    ca: null,
    clock: { ...clock, now: () => Date.now() },
    signal,
    random: () => 0,
  })
  t.teardown(() => client.close())
  const access = { client, rate: new BytesRate(1000, clock), signal, isEtagMd5: true }
  const { object, body } = await getSource(access, { bucket: 'photos', key: 'a' })
  const pieces = await collected(bytesOf(access, object, { start: 0, end: object.size }, body))
  t.ok(Buffer.concat(pieces).equals(BODY))
  t.equal(now, 10_000, '10,000 bytes at 1,000 a second')
})

t.test('one object', async (t) => {
  await t.test('that vanishes between listing and copy is counted and passed over', async (t) => {
    const { source, lines } = await importWorld(t)
    source.put('photos', 'a', 'a')
    source.put('photos', 'b', 'b')
    source.odd = {
      intercept: ({ path }, response) => path === '/photos/a' && (refuse(response, 404, 'NoSuchKey'), true),
    }
    t.match(await lines('s3://photos'), {
      code: 0,
      lines: [
        { action: 'vanished', path: 'photos/a' },
        { path: 'photos/b' },
        { summary: { vanished: 1, copied: 1 } },
      ],
    })
  })

  await t.test('that may not be read, or is in an archive, does not stop the others', async (t) => {
    const { source, run } = await importWorld(t)
    for (const key of ['archived', 'other', 'secret']) source.put('photos', key, key)
    source.odd = {
      intercept: ({ path }, response) => {
        if (path === '/photos/secret') refuse(response, 403, 'AccessDenied')
        else if (path === '/photos/archived') refuse(response, 403, 'InvalidObjectState')
        else return false
        return true
      },
    }
    const { code, out, err } = await run('s3://photos')
    t.equal(code, 1)
    t.equal(out, 'copy  photos/other\n')
    t.match(err, /failed {2}photos\/archived: The object is in an archive .*\n {2}Restore it/)
    t.match(err, /failed {2}photos\/secret: The key of the source may not do this .*\n.*s3:GetObject/)
    t.match(err, /1 copied, 2 failed/)
  })

  await t.test('with retention and a redirect says what is left behind', async (t) => {
    const { source, run } = await importWorld(t)
    const headers = { 'x-amz-object-lock-mode': 'COMPLIANCE', 'x-amz-website-redirect-location': '/b' }
    source.put('photos', 'a', { body: Buffer.from('a'), headers })
    t.match(
      (await run('s3://photos')).err,
      /Left behind: retention of 1 objects\.\nLeft behind: website redirect of 1/,
    )
  })
})

t.test('a refusal that holds for every request ends the import and is explained', async (t) => {
  const { source, run } = await importWorld(t)
  for (const key of ['a', 'b']) source.put('photos', key, key)
  const date = new Date(Date.now() - 3_600_000).toUTCString()
  for (const [status, code, more, message] of [
    [
      403,
      'SignatureDoesNotMatch',
      {},
      /does not accept the signature .*it says SignatureDoesNotMatch.*\n.*The secret of the key is wrong/,
    ],
    [403, 'InvalidAccessKeyId', {}, /does not know the access key/],
    [
      403,
      'RequestTimeTooSkewed',
      { headers: { date } },
      /clocks .* do not agree: they differ by 36\d\d seconds.*\n.*NTP/,
    ],
    [400, 'ExpiredToken', {}, /have expired.*\n.*new credentials/],
    [
      301,
      'PermanentRedirect',
      { headers: { 'x-amz-bucket-region': 'eu-west-3' } },
      /in the region eu-west-3 .*\n.*--region eu-west-3/,
    ],
    [
      400,
      'AuthorizationHeaderMalformed',
      { inside: '<Region>eu-west-3</Region>' },
      /in the region eu-west-3/,
    ],
    [403, 'AccessDenied', {}, /may not do this .*ListObjectsV2 photos.*\n.*s3:ListBucket/],
    [404, 'NoSuchBucket', {}, /no such bucket/],
  ] as const) {
    source.odd = { intercept: (_, response) => (refuse(response, status, code, more), true) }
    source.asked.length = 0
    const printed = await run('s3://photos')
    t.match(printed, { code: 1, err: message }, code)
    t.equal(source.asked.length, 1, `${code} is not asked again`)
  }
  source.odd = {
    intercept: ({ path }, response) => path === '/photos/a' && (refuse(response, 400, 'ExpiredToken'), true),
  }
  t.match(
    (await run('s3://photos', '--parallel', '1')).err,
    /^error: .* have expired/,
    'an object is refused like a listing',
  )
})

t.test('a store', async (t) => {
  await t.test('behind TLS is trusted by its own authority alone', async (t) => {
    const { run } = await importWorld(t)
    const folder = temporaryFolder(t)
    const term = { now: Date.now(), days: 1 }
    const made = newAuthority('c1', term)
    const { certificate: cert, key } = newNodePair(
      readAuthority(made, term.now),
      { nodeId: 'n1', hosts: ['127.0.0.1'] },
      term,
    )
    const source = await FakeSource.start(t, { cert, key })
    source.put('photos', 'a', 'a')
    writeFileSync(`${folder}/ca.pem`, made.certificate)
    writeFileSync(`${folder}/no.pem`, 'nothing')
    const to = ['s3://photos', '--endpoint', source.endpoint]
    t.match(await run(...to), {
      code: 4,
      err: /no answer from the source .*\n {2}because: .*certificate.*\n.*--source-ca/,
    })
    t.match(await run(...to, '--source-ca', `${folder}/no.pem`), { code: 2, err: /contains no certificate/ })
    t.match(await run(...to, '--source-ca', `${folder}/ca.pem`), { code: 0, out: 'copy  photos/a\n' })
  })

  await t.test(
    'that is not there is reported after a few attempts, and plain HTTP to another machine with a warning',
    async (t) => {
      const { run } = await importWorld(t)
      const { code, err } = await run('s3://photos', '--endpoint', 'http://0.0.0.0:1')
      t.match(
        err,
        /^warning: http:\/\/0\.0\.0\.0:1 is plain HTTP: .*\nerror: There is no answer from the source/,
      )
      t.equal(code, 4)
    },
  )

  await t.test('is not asked when the target is not there', async (t) => {
    const { source, run } = await importWorld(t)
    t.match(await run('s3://photos', '--target-endpoint', 'http://127.0.0.1:1'), {
      code: 4,
      err: /^error: No node listens at http:\/\/127\.0\.0\.1:1 /,
    })
    t.same(source.asked, [])
  })
})

t.test('credentials', async (t) => {
  const { source, folder, run } = await importWorld(t)
  source.put('photos', 'a', 'a')
  const file = `${folder}.env`
  const { AWS_ACCESS_KEY_ID: _, AWS_SECRET_ACCESS_KEY: __, ...others } = process.env
  process.env = others
  t.match(await run('s3://photos'), { code: 2, err: /No access key of the source is configured/ })

  await t.test('come from a file, in the spelling of either tool', async (t) => {
    for (const text of [
      '# a comment\nexport AWS_ACCESS_KEY_ID="AKID"\nAWS_SECRET_ACCESS_KEY=a secret\n',
      '[default]\naws_access_key_id = AKID\naws_secret_access_key = a secret\naws_session_token = t\n',
      'HOLDFAST_ACCESS_KEY_ID=AKID\nHOLDFAST_SECRET_KEY=a secret\n',
    ]) {
      writeFileSync(file, text)
      t.equal((await run('s3://photos', '--source-key-file', file)).code, 0, text)
    }
    t.equal(
      source.asked.find(({ headers }) => 'x-amz-security-token' in headers)?.headers['x-amz-security-token'],
      't',
    )
  })

  for (const [text, message] of [
    ['', /contains no access key/],
    ['AWS_ACCESS_KEY_ID=AKID\nAWS_ACCESS_KEY_ID=other\n', /contains more than one/],
  ] as const) {
    writeFileSync(file, text)
    t.match(await run('s3://photos', '--source-key-file', file), { code: 2, err: message })
  }
})
