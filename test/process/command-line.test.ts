/**
 * The command line against a real node: uploaded bytes come back unchanged, and every exit code.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { CommandLine, ended, type Json } from '../helpers/command-line.ts'
import { ProcessCluster, temporaryFolder } from '../helpers/process-cluster.ts'

const MIB = 1024 * 1024
/** No process listens on it. */
const NOWHERE = 'http://127.0.0.1:1'

t.test('the command line', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 1)
  const { dataUrl, adminUrl } = cluster.node('n1')
  const { accessKeyId, secretKey, ownerToken } = cluster.setup
  const cwd = temporaryFolder(t)
  const file = (name: string): string => join(cwd, name)
  const withKey = new CommandLine({
    cwd,
    env: {
      HOLDFAST_ENDPOINT: `${NOWHERE},${dataUrl}`,
      HOLDFAST_ACCESS_KEY_ID: accessKeyId ?? '',
      HOLDFAST_SECRET_KEY: secretKey ?? '',
      HOLDFAST_ADMIN_ENDPOINT: adminUrl,
      HOLDFAST_ADMIN_TOKEN: ownerToken,
      HOLDFAST_TENANT: 'demo',
    },
  })
  // The tokens of a key are limited per minute.
  const token = (await withKey.run(['token'])).stdout.trim()
  const cli = withKey.with({ HOLDFAST_TOKEN: token, HOLDFAST_ENDPOINT: dataUrl })
  t.match(await cli.json(['bucket', 'create', 'photos', '--versioning']), [
    { name: 'photos', versioning: 'Enabled' },
  ])

  await t.test('stores a file and brings it back, through the node that answers', async (t) => {
    writeFileSync(file('cat.txt'), 'a cat')
    const put = await cli.json(['put', 'cat.txt', 'photos/a b/ü#?/', '--meta', 'camera=x100'])
    t.match(put, [
      {
        key: 'a b/ü#?/cat.txt',
        size: 5,
        contentType: 'text/plain; charset=utf-8',
        metadata: { camera: 'x100' },
      },
    ])
    t.match(await withKey.json(['ls', 'photos/a b/']), [{ prefix: 'a b/ü#?/' }])
    t.match(await cli.json(['ls', 'photos', '-r']), [{ key: 'a b/ü#?/cat.txt', size: 5 }])
    const [got] = await cli.json(['get', 'photos/a b/ü#?/cat.txt', 'back.txt'])
    t.match(got, { file: 'back.txt', size: 5, verified: { CRC64NVME: /=$/, SHA256: /=$/ } })
    t.equal(readFileSync(file('back.txt'), 'utf8'), 'a cat')
    const modes = ['back.txt', 'cat.txt'].map((name) => statSync(file(name)).mode)
    t.equal(modes[0], modes[1], 'a download has the mode that the mask of its caller allows')
    const piped = await cli.run(['put', '-', 'photos/../odd'], 'from a pipe')
    t.match(piped, { status: 0, stdout: '', stderr: /photos\/\.\.\/odd {2}11 B/ })
    t.match(await cli.run(['get', 'photos/../odd', '-']), { status: 0, stdout: 'from a pipe', stderr: '' })
    t.match(await cli.json(['cp', 'photos/../odd', 'photos/copies/']), [{ key: 'copies/odd', size: 11 }])
    t.match(await cli.json(['stat', 'photos/copies/odd']), [
      { size: 11, partsCount: 1, checksums: { CRC64NVME: /=$/ } },
    ])
    const [removed] = await cli.json(['rm', 'photos/copies/odd'])
    t.match(removed, { deleted: true, deleteMarkerVersionId: /./ })
    const versions = await cli.json(['ls', 'photos/copies/', '--versions'])
    t.match(versions, [{ isDeleteMarker: true }, { isDeleteMarker: false, size: 11 }])
    const version = String(versions[1]?.['versionId'])
    const old = await cli.run(['get', 'photos/copies/odd', '-', '--version-id', version])
    t.equal(old.stdout, 'from a pipe', 'an older version')
    const url = (await cli.run(['sign', 'photos/../odd', '--ttl', '1m'])).stdout.trim()
    t.match(url, /^http.*token=svcurl_/)
  })

  await t.test('continues an interrupted upload, and sends no unchanged part twice', async (t) => {
    const bytes = randomBytes(12 * MIB + 5)
    const args = ['put', '-', 'photos/large', '--part-size', '5MiB']
    const broken = cli.start([...args, '--parallel', '2'])
    let reported = ''
    broken.stderr?.on('data', (piece) => (reported += String(piece)))
    // It ends before it has read all of them.
    broken.stdin?.on('error', () => {})
    broken.stdin?.write(bytes.subarray(0, 11 * MIB))
    await cluster.login('n1')
    const asked = async (path: string): Promise<Json> =>
      JSON.parse((await cluster.call('n1', 'GET', path)).body.toString()) as Json
    const uploads = async () => (await asked('/buckets/photos/multipart'))['uploads'] as readonly Json[]
    await until('two parts are stored', async () => {
      const [upload] = await uploads()
      if (upload === undefined) return false
      const { parts } = await asked(`/buckets/photos/multipart/${String(upload['uploadId'])}/parts/large`)
      return (parts as readonly Json[]).length === 2
    })
    const over = ended(broken)
    broken.kill('SIGINT')
    t.equal(await over, 1, 'an interrupted command has failed, though its input is still open')
    t.match(reported, /interrupted\n.*--resume continues the upload/)
    t.equal((await uploads()).length, 1, 'the uploaded parts are kept')
    bytes[6 * MIB] = ~(bytes[6 * MIB] ?? 0)
    const [stored] = await cli.json([...args, '--resume'], bytes)
    t.match(stored, { size: bytes.length, partsCount: 3 })
    t.equal((await uploads()).length, 0, 'it was the same upload')
    await cli.run(['get', 'photos/large', 'large'])
    t.ok(readFileSync(file('large')).equals(bytes))
    const audit = ['audit', 'query', '--operation', 'uploadPart', '--key', 'large', '--outcome', 'success']
    t.equal(
      (await cli.json(audit)).length,
      4,
      'the first was sent once; the second, which has changed, again',
    )
  })

  await t.test('makes a prefix equal to a folder, and a folder equal to a prefix', async (t) => {
    for (const name of ['1', 'sub/2', 'sub/3']) {
      mkdirSync(file('tree/sub'), { recursive: true })
      writeFileSync(file(`tree/${name}`), name)
    }
    const sync = (...args: readonly string[]) => cli.json(['sync', ...args])
    const summary = async (...args: readonly string[]) => (await sync(...args)).at(-1)?.['summary']
    t.match(await summary('./tree', 'photos/tree', '--dry-run'), { uploaded: 3, dryRun: true })
    t.same(await cli.json(['ls', 'photos/tree/', '-r']), [], 'a dry run stores nothing')
    t.match(await sync('./tree', 'photos/tree'), [
      { action: 'upload' },
      { action: 'upload' },
      { action: 'upload' },
      { summary: { uploaded: 3 } },
    ])
    t.match(await summary('./tree', 'photos/tree'), { uploaded: 0, unchanged: 3 })
    rmSync(file('tree/1'))
    writeFileSync(file('tree/sub/2'), 'changed')
    writeFileSync(file('tree/sub/3'), 'X'.repeat(5))
    utimesSync(file('tree/sub/3'), 1, 1)
    t.match(await summary('./tree', 'photos/tree'), { uploaded: 1, removed: 0 }, 'the same size, and older')
    t.match(await summary('./tree', 'photos/tree', '--checksum', '--delete'), { uploaded: 1, removed: 1 })
    t.match(await summary('photos/tree', './back'), { downloaded: 2 })
    t.equal(readFileSync(file('back/sub/3'), 'utf8'), 'XXXXX')
    t.match(
      await summary('photos/tree', './back'),
      { downloaded: 0, unchanged: 2 },
      'it has the times of the objects',
    )
    writeFileSync(file('back/mine'), '')
    t.match(await summary('photos/tree', './back'), { removed: 0 })
    t.match(await summary('photos/tree', './back', '--delete'), { removed: 1 })
    t.same(readdirSync(file('back')), ['sub'])
  })

  await t.test('writes nothing outside the folder, for any keys, and then removes nothing', async (t) => {
    await cli.run(['put', '-', 'photos/evil/../../escaped'], 'escaped')
    await cli.run(['put', '-', 'photos/evil/fine'], 'fine')
    mkdirSync(file('deep/down'), { recursive: true })
    writeFileSync(file('deep/down/mine'), '')
    const ran = await cli.run(['sync', 'photos/evil', './deep/down', '--delete'])
    t.match(ran, {
      status: 1,
      stdout: 'download  fine\n',
      stderr: /is not a possible file name[^]*Nothing is removed/,
    })
    t.notOk(existsSync(file('escaped')))
    t.same(readdirSync(file('deep/down')), ['fine', 'mine'])
  })

  await t.test(
    'ends with 0 done, 1 failed, 2 wrong use, 3 refused by a gate, 4 not reachable [decisions 15]',
    async (t) => {
      t.match(await cli.run(['get', 'photos/none']), {
        status: 1,
        stderr: /not_found[^]*Request [0-9a-f-]{36}/,
      })
      const failed = await cli.run(['get', 'photos/none', '--json'])
      const { error } = JSON.parse(failed.stderr) as { error: Json }
      t.match(error, { code: 'not_found', message: /none/, hint: /./, requestId: /^[0-9a-f-]{36}$/ })
      t.match(await cli.run(['put', 'no-such-file', 'photos/']), {
        status: 1,
        stderr: /no such file.*no-such-file/,
      })
      t.match(await cli.run(['ls', '--sideways']), { status: 2, stderr: /unknown option/ })
      t.match(await cli.run(['put', '--json']), { status: 2, stderr: /^{"error":{"code":"invalid_argument"/ })
      t.match(await cli.run(['sync', './a', './b']), { status: 2, stderr: /bucket\/prefix/ })
      t.match(await cli.run(['bucket', 'delete', 'photos']), { status: 3, stderr: /bucket_not_empty/ })
      const empty = await cli.run(['sync', 'photos/nothing', './back', '--delete'])
      t.match(empty, { status: 3, stderr: /source is empty/ }, 'an empty source')
      t.same(readdirSync(file('back')), ['sub'])
      const lost = cli.with({ HOLDFAST_ENDPOINT: NOWHERE })
      t.match(await lost.run(['ls']), { status: 4, stderr: /ECONNREFUSED/ })
    },
  )

  await t.test('a reader that closes its end early is no failure', async (t) => {
    const child = cli.start(['get', 'photos/large', '-'])
    await once(child.stdout ?? child, 'data')
    child.stdout?.destroy()
    t.equal(await ended(child), 0)
  })

  await t.test('looks after tenants, accounts, keys, quotas and policies', async (t) => {
    t.match(await cli.json(['tenant', 'create', 'Acme', '--id', 'acme']), [{ id: 'acme', status: 'active' }])
    t.match(await cli.json(['tenant', 'list']), [{ id: 'acme' }, { id: 'demo' }])
    const acme = cli.with({ HOLDFAST_TENANT: 'acme' })
    t.match(await acme.run(['account', 'create', 'ci', '--dry-run']), {
      status: 0,
      stdout: /^createTenantAccount would be done; nothing was changed/,
    })
    t.same(await acme.json(['account', 'list']), [], 'the dry run made none')
    const [account] = await acme.json(['account', 'create', 'ci'])
    t.match(await acme.run(['account', 'create', 'ci', '--dry-run']), {
      status: 3,
      stderr: /blocked by already_exists/,
    })
    const id = String(account?.['id'])
    const scopes = ['--read', 'photos', '--write', 'photos/in/', '--write', 'photos/out/']
    const made = await acme.run(['key', 'create', '--account', id, '--expires-in', '90d', ...scopes])
    const [, keyId = '', secret = ''] =
      /^HOLDFAST_ACCESS_KEY_ID=(\S+)\nHOLDFAST_SECRET_KEY=(\S+)\n$/.exec(made.stdout) ?? []
    const [key, ...others] = await acme.json(['key', 'list'])
    t.match(key, {
      accessKeyId: keyId,
      accountId: id,
      scopes:
        'op=read:bucket=photos:prefix=,op=write:bucket=photos:prefix=in/,op=write:bucket=photos:prefix=out/',
    })
    t.same(others, [])
    t.match(await acme.json(['account', 'list']), [{ id, keyCount: 1 }])
    const [rotated] = await acme.json(['key', 'rotate', keyId])
    t.not(rotated?.['secretKey'], secret)
    const may = (operation: string) => acme.run(['key', 'test', keyId, operation, 'photos/in/a'])
    const scope = 'op=write:bucket=photos:prefix=in/'
    t.match(await may('putObject'), {
      status: 0,
      stdout: new RegExp(`^yes: .*\n.*by: scopes\n.*${scope}\n$`),
    })
    t.match(await may('deleteObject'), {
      status: 1,
      stdout: /^no \(access_denied\): .* has no 'delete' scope/,
    })
    const revoked = await acme.run(['key', 'revoke', keyId, '--reason', 'leaked'])
    t.match(revoked, { status: 0, stderr: `${keyId} is revoked\n` })
    t.notMatch(made.stderr + revoked.stdout + revoked.stderr, secret)

    await acme.json(['quota', 'set', '--max-bytes', '100GiB', '--max-buckets', '3'])
    const [quota] = await acme.json(['quota', 'set', '--max-buckets', 'none'])
    t.match(
      quota,
      { quota: { maxBytes: 100 * 1024 ** 3, maxObjects: null, maxBuckets: null } },
      'the rest stays',
    )
    t.match(await acme.run(['quota', 'clear']), { status: 0, stderr: 'acme has no quota now\n' })
    await acme.json(['limits', 'set', '--requests', '500', '--bytes-out', '100MiB', '--burst', '5s'])
    await acme.json(['limits', 'set', '--each-key', '--uploads-at-once', 'none', '--weight', '3'])
    const [limits] = await acme.json(['limits', 'set', '--requests', 'default'])
    t.match(limits, {
      limits: {
        tenant: { requestsPerSecond: null, bytesOutPerSecond: 100 * 1024 ** 2, burstSeconds: 5 },
        accessKey: { uploadsAtOnce: 0, requestsPerSecond: null },
        weight: 3,
      },
    })
    const shown = await acme.run(['limits', 'show'])
    t.match(shown.stdout, /^bytes out a second +100 MiB +no limit \(default\)$/m)
    t.match(shown.stdout, /^uploads at once +500 \(default\) +no limit$/m)
    t.match(await acme.run(['limits', 'clear']), {
      status: 0,
      stderr: 'acme has the limits of the nodes now\n',
    })
    const policy = JSON.stringify({
      Statement: [
        { Effect: 'Deny', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::photos/secret/*' },
      ],
    })
    t.match(await cli.run(['policy', 'set', 'photos', '-', '--dry-run'], policy), {
      status: 0,
      stdout: /denials +1/,
    })
    t.match(await cli.run(['policy', 'set', 'photos', '-'], 'nonsense'), { status: 2 })
    t.match(await cli.run(['policy', 'get', 'photos']), { status: 1 }, 'neither set one')
    t.match(await cli.json(['usage']), [{ tenantId: 'demo', byBucket: [{ name: 'photos' }] }])
  })

  await t.test('starts long operations, and waits for them', async (t) => {
    t.match(await cli.json(['cluster', 'scrub', '--reason', 'a new disk', '--wait']), [
      { status: 'succeeded' },
    ])
    const [listed] = await cli.json(['cluster', 'operations', 'list'])
    t.match(listed, { type: 'scrub', reason: 'a new disk' })
    const late = await cli.run([
      'cluster',
      'operations',
      'cancel',
      String(listed?.['operationId']),
      '--dry-run',
    ])
    t.match(
      late,
      { status: 3, stderr: /blocked by precondition_failed/ },
      'a finished operation cannot be cancelled',
    )
  })

  await t.test('keeps secrets to itself', async (t) => {
    const wrong = withKey.with({ HOLDFAST_SECRET_KEY: 'WRONGSECRET', HOLDFAST_ADMIN_TOKEN: 'WRONGTOKEN' })
    for (const args of [['ls'], ['ls', '--json'], ['tenant', 'list'], ['stat', 'photos/large']]) {
      const { status, stdout, stderr } = await wrong.run(args)
      t.equal(status, 1, args.join(' '))
      t.notMatch(stdout + stderr, /WRONG/)
    }
  })
})
