/**
 * `holdfast import` from a store on a real socket into a real server: what is copied, what is left alone, what is reported.
 */
import t from 'tap'
import { xml } from './fake-source.ts'
import { importWorld } from './import-world.ts'

t.test('an object keeps', async (t) => {
  const { source, get, run } = await importWorld(t)
  source.put('photos', 'a b/ü+1', {
    body: Buffer.from('{}'),
    headers: {
      'content-type': 'application/json',
      'cache-control': 'max-age=60',
      'content-disposition': 'attachment',
      'content-encoding': 'aws-chunked,gzip',
      'content-language': 'de',
      expires: 'Thu, 01 Jan 2026 00:00:00 GMT',
      'x-amz-meta-from': Buffer.from('grüße').toString('latin1'),
    },
    tags: { team: 'a & b', 'k=v': '' },
  })
  const { code, out, err } = await run('s3://photos')
  t.equal(code, 0, err)
  t.equal(out, 'copy  photos/a b/ü+1\n')
  const path = `photos/objects/a%20b/${encodeURIComponent('ü+1')}`
  const { bytes, headers } = await get(path)
  t.equal(bytes.toString(), '{}', 'its bytes')
  t.match(
    headers,
    {
      'content-type': 'application/json',
      'cache-control': 'max-age=60',
      'content-disposition': 'attachment',
      'content-encoding': 'gzip',
      'content-language': 'de',
      expires: 'Thu, 01 Jan 2026 00:00:00 GMT',
      'x-service-meta-from': Buffer.from('grüße').toString('latin1'),
    },
    'its type, headers and metadata',
  )
  t.equal(headers['x-service-meta-holdfast-source-last-modified'], '2026-03-04T05:06:07.000Z', 'its time')
  t.match(headers['x-service-meta-holdfast-source-etag'], /^[0-9a-f]{32}$/, 'its etag')
  const { json } = await get(path.replace('/objects/', '/object-tags/'))
  t.same(json['tags'], { team: 'a & b', 'k=v': '' }, 'its tags')
})

t.test('the same command again', async (t) => {
  const { source, get, lines, put } = await importWorld(t)
  for (const key of ['a', 'b', 'c']) source.put('photos', key, `first ${key}`)
  t.match((await lines('s3://photos')).lines.at(-1), { summary: { copied: 3, failed: 0 } })
  source.asked.length = 0

  await t.test('reads nothing that is there', async (t) => {
    t.match(await lines('s3://photos'), { code: 0, lines: [{ summary: { copied: 0, unchanged: 3 } }] })
    t.same(source.reads, [])
  })

  await t.test('replaces what changed at the source since', async (t) => {
    source.put('photos', 'b', 'second b')
    const { code, lines: printed } = await lines('s3://photos')
    t.match(printed, [{ action: 'replace', path: 'photos/b' }, { summary: { replaced: 1, unchanged: 2 } }])
    t.equal(code, 0)
    t.equal((await get('photos/objects/b')).bytes.toString(), 'second b')
  })

  await t.test('leaves alone what somebody else wrote, and fails', async (t) => {
    await put('photos/objects/c', 'of somebody')
    const { code, lines: printed } = await lines('s3://photos')
    t.match(printed, [{ action: 'conflict', path: 'photos/c' }, { summary: { conflicts: 1 } }])
    t.equal(code, 1)
    t.equal((await get('photos/objects/c')).bytes.toString(), 'of somebody')
  })

  await t.test('replaces it when asked to', async (t) => {
    t.match((await lines('s3://photos', '--overwrite')).lines, [{ action: 'replace', path: 'photos/c' }, {}])
    t.equal((await get('photos/objects/c')).bytes.toString(), 'first c')
  })
})

t.test('an object that somebody writes during its copy is not replaced', async (t) => {
  const { source, get, lines, put } = await importWorld(t)
  source.put('photos', 'a', 'of the source')
  source.odd = {
    intercept: async ({ path }) => {
      if (path === '/photos/a') await put('photos/objects/a', 'of somebody')
      return false
    },
  }
  t.match(await lines('s3://photos'), {
    code: 1,
    lines: [{ action: 'conflict' }, { summary: { conflicts: 1 } }],
  })
  t.equal((await get('photos/objects/a')).bytes.toString(), 'of somebody')
})

t.test('a store whose answers to GET have neither etag nor time', async (t) => {
  const { source, lines } = await importWorld(t)
  source.put('photos', 'a', 'a')
  source.odd = {
    intercept: ({ path }, response) => {
      if (path === '/photos/a') response.writeHead(200, { 'content-length': 1 }).end('a')
      return path === '/photos/a'
    },
  }
  t.match((await lines('s3://photos')).lines, [{ action: 'copy' }, { summary: { withoutChecksum: 1 } }])
  t.match((await lines('s3://photos')).lines, [{ summary: { unchanged: 1 } }])
})

t.test('names', async (t) => {
  const { source, get, lines, run, world } = await importWorld(t)
  source.put('old', '2025/a', '1')
  source.put('old', '2025-b', '2')
  source.put('old', '2026/c', '3')

  await t.test('a prefix is a folder, and --into stands in its place', async (t) => {
    t.match(await lines('s3://old/2025', '--into', 'photos/archive'), {
      code: 0,
      lines: [{ path: 'photos/archive/a' }, { summary: { copied: 1 } }],
    })
    t.equal((await get('photos/objects/archive/a')).bytes.toString(), '1')
  })

  await t.test('without --into they stay', async (t) => {
    t.match((await lines('s3://old/2026', '--create')).lines[0], { path: 'old/2026/c' })
  })

  await t.test('a bucket that is missing is an error without --create', async (t) => {
    source.put('newer', 'a', '1')
    t.match(await run('s3://newer'), { code: 1, err: /The target has no bucket 'newer'\n {2}.*--create/ })
  })

  await t.test('a dry run changes nothing', async (t) => {
    const before = world.memory.checksum()
    const { code, lines: printed } = await lines('s3://newer', '--create', '--dry-run')
    t.match(printed, [
      { action: 'copy', path: 'newer/a', dryRun: true },
      { summary: { copied: 1, dryRun: true } },
    ])
    t.equal(code, 0)
    t.equal(world.memory.checksum(), before)
  })

  await t.test('--all copies every bucket', async (t) => {
    const { code, lines: printed } = await lines('s3://', '--all', '--create')
    t.match(printed.at(-1), { summary: { copied: 3, unchanged: 1 } })
    t.equal(code, 0)
    t.equal((await get('newer/objects/a')).bytes.toString(), '1')
  })

  await t.test('a bucket that the target cannot have does not stop the others', async (t) => {
    source.put('Upper_Case', 'a', '1')
    source.put('z', 'a', '1')
    const { code, lines: printed } = await lines('s3://', '--all', '--create')
    t.match(printed, [
      { action: 'failed', path: 'Upper_Case' },
      { action: 'failed', path: 'z', code: 'invalid_bucket_name' },
      { summary: { failed: 2, unchanged: 4 } },
    ])
    t.equal(code, 1)
  })

  for (const [args, message] of [
    [['s3://'], /No bucket is named/],
    [['s3://old', '--all'], /With --all no bucket is named/],
    [['s3://', '--all', '--into', 'photos'], /cannot be combined/],
    [['old'], /does not name a bucket of another store/],
    [['s3:///a'], /does not name a bucket of another store/],
  ] as const)
    t.match(await run(...args), { code: 2, err: message }, args.join(' '))
})

t.test('listings', async (t) => {
  const KEYS = ['a', 'a b', 'a+b', 'a&<b', 'a/', 'a%41', 'é', '\u{10000}', '\uffff', 'tab\there']

  await t.test('of several pages, with keys that need encoding', async (t) => {
    const { source, lines, world } = await importWorld(t)
    for (const key of KEYS) source.put('photos', key, key)
    source.odd = { pageKeys: 3 }
    t.match((await lines('s3://photos')).lines.at(-1), { summary: { copied: KEYS.length, failed: 0 } })
    t.match((await lines('s3://photos')).lines, [{ summary: { unchanged: KEYS.length } }])
    t.ok(world)
  })

  await t.test('of a store that ignores encoding-type', async (t) => {
    const { source, get, lines } = await importWorld(t)
    const plain = KEYS.filter((key) => key !== '\uffff')
    for (const key of plain) source.put('photos', key, key)
    source.odd = { isPlainXml: true }
    t.match((await lines('s3://photos')).lines.at(-1), { summary: { copied: plain.length, failed: 0 } })
    t.equal((await get('photos/objects/a%2Bb')).bytes.toString(), 'a+b')
  })

  await t.test('in another order: no object is passed over or copied twice', async (t) => {
    const { source, lines } = await importWorld(t)
    for (const key of ['a', 'b', 'c', 'd']) source.put('photos', key, key)
    source.odd = { order: (one, other) => (one < other ? 1 : -1) }
    t.match((await lines('s3://photos')).lines.at(-1), { summary: { copied: 4 } })
    t.match((await lines('s3://photos')).lines, [{ summary: { unchanged: 4 } }])
  })

  await t.test('that does not advance is refused', async (t) => {
    const { source, run } = await importWorld(t)
    const page = '<ListBucketResult><IsTruncated>true</IsTruncated>'
    for (const [rest, message] of [
      ['<NextContinuationToken>x</NextContinuationToken>', /continues with the page that it has just shown/],
      ['', /continues, but has no NextContinuationToken/],
    ] as const) {
      source.odd = {
        intercept: (_, response) => {
          xml(response, 200, `${page}${rest}</ListBucketResult>`)
          return true
        },
      }
      t.match(await run('s3://photos'), { code: 1, err: message })
    }
  })

  await t.test('with namespaces of its own, and without quotes and milliseconds', async (t) => {
    const { source, lines } = await importWorld(t)
    source.put('photos', 'a', { body: Buffer.from('1'), etag: 'e-1' })
    source.odd = {
      intercept: ({ path }, response) => {
        if (!path.includes('list-type')) return false
        const entry =
          '<s3:Contents><s3:Key>a</s3:Key><s3:Size> 1 </s3:Size><s3:ETag>e-1</s3:ETag><s3:LastModified>2026-03-04T05:06:07Z</s3:LastModified></s3:Contents>'
        xml(response, 200, `<s3:ListBucketResult xmlns:s3="urn:other">${entry}</s3:ListBucketResult>`)
        return true
      },
    }
    t.match((await lines('s3://photos')).lines, [{ path: 'photos/a' }, { summary: { copied: 1 } }])
    t.match((await lines('s3://photos')).lines, [{ summary: { unchanged: 1 } }])
  })

  await t.test('that are no XML are refused', async (t) => {
    const { source, run } = await importWorld(t)
    source.odd = {
      intercept: (_, response) => {
        response.end('<html><body>Welcome<br></body></html>')
        return true
      },
    }
    t.match(await run('s3://photos'), {
      code: 1,
      err: /answer to ListObjectsV2 cannot be read.*\n.*speaks S3/s,
    })
  })
})
