/**
 * The command line of AWS, versions 1 and 2: `aws s3` for files and folders, `aws s3api` for single requests.
 */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { Readable } from 'node:stream'
import { playLifecycle, playLocks, playVersions } from './aws-cli-versions.ts'
import { AwsProgram, type Json } from './aws-program.ts'
import type { ClientScript, FoundClient } from './base/client-script.ts'
import {
  bytesOf,
  type Digests,
  digestOf,
  digestOfBytes,
  digestOfFile,
  digestsOf,
  listed,
  type LocalFile,
  writeLocal,
  writeTree,
} from './base/files.ts'
import { programsNamed } from './base/programs.ts'
import type { Stage } from './base/stage.ts'

class AwsRoundTrip {
  readonly #stage: Stage
  readonly #aws: AwsProgram
  readonly #bucket: string
  readonly #big: LocalFile
  readonly #tree: Map<string, string>

  constructor(
    stage: Stage,
    aws: AwsProgram,
    files: { readonly big: LocalFile; readonly tree: Map<string, string> },
  ) {
    this.#stage = stage
    this.#aws = aws
    this.#bucket = stage.bucket('files')
    this.#big = files.big
    this.#tree = files.tree
  }

  async play(): Promise<void> {
    await this.#uploads()
    await this.#folders()
    await this.#facts()
    await this.#parts()
    await playVersions(this.#stage, this.#aws)
    await playLocks(this.#stage, this.#aws)
    await playLifecycle(this.#stage, this.#aws)
    await this.#ends()
  }

  async #uploads(): Promise<void> {
    const stage = this.#stage
    const url = `s3://${this.#bucket}`
    await stage.step('s3 mb, s3 ls', async (at) => {
      await this.#aws.s3(at, 'mb', url)
      ok((await this.#aws.s3(at, 'ls')).includes(this.#bucket))
    })
    await stage.step('s3 cp --recursive, up', async (at) => {
      await this.#aws.s3(at, 'cp --recursive --only-show-errors', stage.path('tree'), `${url}/tree`)
    })
    await stage.step('s3 cp in parts', async (at) => {
      const facts = '--metadata from=me --content-type text/x-big --cache-control max-age=60'
      await this.#aws.s3(at, `cp --only-show-errors ${facts}`, this.#big.path, `${url}/big file.bin`)
    })
    await stage.step('s3 cp --recursive, down', async (at) => {
      await this.#aws.s3(at, 'cp --recursive --only-show-errors', url, stage.path('back'))
      deepEqual(listed(await digestsOf(stage.path('back'))), listed(this.#expected()))
      rmSync(stage.path('back'), { recursive: true })
    })
    await stage.step('s3 cp through pipes', async (at) => {
      await this.#aws.piped(at, { input: this.#big.path }, ['cp', '-', `${url}/pipe`])
      const out = await this.#aws.piped(at, {}, ['cp', '--quiet', `${url}/tree/plain.txt`, '-'])
      equal(digestOfBytes(out), this.#tree.get('plain.txt'))
      equal(await stage.native.digest(this.#bucket, 'pipe'), this.#big.sha256)
      await this.#aws.s3(at, 'rm', `${url}/pipe`)
    })
  }

  async #folders(): Promise<void> {
    const stage = this.#stage
    const url = `s3://${this.#bucket}`
    await stage.step('s3 sync --delete', async (at) => {
      const changed = await writeLocal(stage.path('tree', 'plain.txt'), 5000, 'changed')
      this.#tree.set('plain.txt', changed.sha256)
      this.#tree.delete('plus+plus.txt')
      rmSync(stage.path('tree', 'plus+plus.txt'))
      const out = await this.#aws.s3(at, 'sync --delete --no-progress', stage.path('tree'), `${url}/tree`)
      const done = out.trim().split('\n')
      deepEqual(new Set(done.map((line) => line.split(':')[0])), new Set(['delete', 'upload']))
      equal(done.length, 2)
    })
    await stage.step('s3 ls --recursive', async (at) => {
      const out = await this.#aws.s3(at, 'ls --recursive --summarize', url)
      match(out, new RegExp(`Total Objects: ${this.#tree.size + 1}\\b`))
    })
    await stage.step('the native API reads the same objects', () =>
      stage.native.holds(this.#bucket, this.#expected()),
    )
  }

  #expected(): Digests {
    const tree = [...this.#tree].map(([key, digest]) => [`tree/${key}`, digest] as const)
    return new Map([...tree, ['big file.bin', this.#big.sha256]])
  }

  async #facts(): Promise<void> {
    const { native, path } = { native: this.#stage.native, path: this.#stage.path('range') }
    const bucket = this.#bucket
    const object = ['--bucket', bucket, '--key', 'big file.bin']
    await this.#stage.step('head-object', async (at) => {
      const head = await this.#aws.api(at, 'head-object', ...object)
      const { Metadata, ContentType, CacheControl, ContentLength } = head
      deepEqual([Metadata, ContentType, CacheControl], [{ from: 'me' }, 'text/x-big', 'max-age=60'])
      equal(ContentLength, this.#big.bytes)
      equal((await native.facts(bucket, 'big file.bin'))['x-service-meta-from'], 'me')
    })
    await this.#stage.step('get-object --range', async (at) => {
      await this.#aws.api(at, 'get-object', ...object, '--range', 'bytes=10-19', path)
      equal(await digestOfFile(path), digestOfBytes(bytesOf('big', 20).subarray(10)))
    })
    await this.#stage.step('put-object-tagging', async (at) => {
      const TagSet = [
        { Key: 'env', Value: 'prod of 日本' },
        { Key: 'a b', Value: '' },
      ]
      await this.#aws.api(at, 'put-object-tagging', ...object, '--tagging', JSON.stringify({ TagSet }))
      deepEqual(await native.tags(bucket, 'big file.bin'), { env: 'prod of 日本', 'a b': '' })
    })
    await this.#stage.step('get-object-tagging, delete-object-tagging', async (at) => {
      const { TagSet } = await this.#aws.api(at, 'get-object-tagging', ...object)
      equal((TagSet as unknown[]).length, 2)
      await this.#aws.api(at, 'delete-object-tagging', ...object)
      deepEqual(await native.tags(bucket, 'big file.bin'), {})
    })
    await this.#stage.step('s3 presign', async (at) => {
      const url = await this.#aws.s3(at, 'presign --expires-in 300', `s3://${bucket}/big file.bin`)
      const answer = await fetch(url.trim())
      equal(answer.status, 200, answer.ok ? '' : await answer.text())
      equal(await digestOf(answer.body ?? Readable.from([])), this.#big.sha256)
    })
    await this.#stage.step('s3 cp and s3 mv inside the store', async (at) => {
      const url = `s3://${bucket}`
      await this.#aws.s3(at, 'cp --only-show-errors', `${url}/big file.bin`, `${url}/copy.bin`)
      await this.#aws.s3(at, 'mv --only-show-errors', `${url}/copy.bin`, `${url}/moved.bin`)
      equal(await native.digest(bucket, 'moved.bin'), this.#big.sha256)
      await this.#aws.s3(at, 'rm', `${url}/moved.bin`)
    })
  }

  /** An upload that another process at another node continues. */
  async #parts(): Promise<void> {
    const stage = this.#stage
    const object = ['--bucket', this.#bucket, '--key', 'by hand.bin']
    const first = await writeLocal(stage.path('part1'), stage.sizes.partBytes, 'part1')
    const second = await writeLocal(stage.path('part2'), 100, 'part2')
    const whole = digestOfBytes(bytesOf('part1', first.bytes), bytesOf('part2', second.bytes))
    let upload: readonly string[] = []
    let arrived: readonly Json[] = []
    const create = async (at: string): Promise<void> => {
      const { UploadId } = await this.#aws.api(at, 'create-multipart-upload', ...object)
      upload = [...object, '--upload-id', String(UploadId)]
    }
    const part = (at: string, number: string, file: LocalFile): Promise<Json> =>
      this.#aws.api(at, 'upload-part', ...upload, '--part-number', number, '--body', file.path)
    await stage.step('create-multipart-upload, upload-part', async (at) => {
      await create(at)
      await part(at, '1', first)
    })
    await stage.step('list-multipart-uploads, list-parts', async (at) => {
      const { Uploads } = await this.#aws.api(at, 'list-multipart-uploads', '--bucket', this.#bucket)
      deepEqual(
        (Uploads as Json[]).map(({ Key, UploadId }) => [Key, UploadId]),
        [['by hand.bin', upload.at(-1)]],
      )
      arrived = (await this.#aws.api(at, 'list-parts', ...upload))['Parts'] as Json[]
      deepEqual(
        arrived.map(({ PartNumber, Size }) => [PartNumber, Size]),
        [[1, first.bytes]],
      )
    })
    await stage.step('the upload continues and completes', async (at) => {
      const { ETag } = await part(at, '2', second)
      const Parts = [
        { PartNumber: 1, ETag: arrived[0]?.['ETag'] },
        { PartNumber: 2, ETag },
      ]
      const named = [...upload, '--multipart-upload', JSON.stringify({ Parts })]
      const done = await this.#aws.api(at, 'complete-multipart-upload', ...named)
      match(String(done['ETag']), /^"[0-9a-f]{32}-2"$/)
      equal(await stage.native.digest(this.#bucket, 'by hand.bin'), whole)
    })
    await stage.step('abort-multipart-upload', async (at) => {
      await create(at)
      await this.#aws.api(at, 'abort-multipart-upload', ...upload)
      match(await this.#aws.refused(at, 's3api', 'list-parts', ...upload), /NoSuchUpload/)
      await this.#aws.api(at, 'delete-object', ...object)
    })
  }

  async #ends(): Promise<void> {
    const bucket = this.#bucket
    await this.#stage.step('s3 rb of a bucket that is not empty', async (at) => {
      match(await this.#aws.refused(at, 's3', 'rb', `s3://${bucket}`), /BucketNotEmpty/)
    })
    await this.#stage.step('s3 rb --force', async (at) => {
      await this.#aws.s3(at, 'rb --force', `s3://${bucket}`)
      match(await this.#aws.refused(at, 's3api', 'head-bucket', '--bucket', bucket), /404/)
    })
  }
}

export const AWS_CLI: ClientScript = {
  name: 'aws-cli',
  absence: 'apt-get install awscli',
  find: () =>
    programsNamed('aws').map(
      (program): FoundClient => ({
        version: program.version.split(' ')[0]?.replace('aws-cli/', '') ?? '',
        play: async (stage) => {
          const big = await writeLocal(stage.path('big.bin'), stage.sizes.bigBytes, 'big')
          const tree = await writeTree(stage.path('tree'), stage.sizes.many)
          await new AwsRoundTrip(stage, new AwsProgram(program, stage), { big, tree }).play()
        },
      }),
    ),
}
