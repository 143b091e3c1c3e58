/**
 * The AWS SDK for JavaScript: the client, uploads in parts by lib-storage, presigned URLs and forms.
 */
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteBucketLifecycleCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketLifecycleConfigurationCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  type LifecycleRule,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  ListPartsCommand,
  paginateListObjectsV2,
  PutBucketLifecycleConfigurationCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectTaggingCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { createPresignedPost } from '@aws-sdk/s3-presigned-post'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { ClientScript } from './base/client-script.ts'
import { bytesOf, digestOf, digestOfBytes, type LocalFile, ODD_NAMES, writeLocal } from './base/files.ts'
import { packageVersion } from './base/package-version.ts'
import type { Stage } from './base/stage.ts'

const DAY_MS = 86_400_000
const MIB = 1024 * 1024

class SdkRoundTrip {
  readonly #stage: Stage
  readonly #Bucket: string
  #big: LocalFile = { path: '', bytes: 0, sha256: '' }

  constructor(stage: Stage) {
    this.#stage = stage
    this.#Bucket = stage.bucket('sdk')
  }

  async play(): Promise<void> {
    const { path, sizes } = { path: this.#stage.path('big.bin'), sizes: this.#stage.sizes }
    this.#big = await writeLocal(path, sizes.bigBytes, 'big')
    await this.#objects()
    await this.#facts()
    await this.#parts()
    await this.#signed()
    await this.#versions()
    await this.#locks()
    await this.#lifecycle()
    await this.#ends()
  }

  /** A step with a client of its own at the next node. */
  #step(name: string, work: (s3: S3Client) => Promise<unknown>): Promise<void> {
    const { accessKeyId, secretKey: secretAccessKey } = this.#stage.credentials
    return this.#stage.step(name, async (endpoint) => {
      const credentials = { accessKeyId, secretAccessKey }
      const s3 = new S3Client({
        endpoint,
        region: 'us-east-1',
        credentials,
        forcePathStyle: true,
      })
      try {
        await work(s3)
      } finally {
        s3.destroy()
      }
    })
  }

  async #objects(): Promise<void> {
    const Bucket = this.#Bucket
    await this.#step('CreateBucket, HeadBucket', async (s3) => {
      await s3.send(new CreateBucketCommand({ Bucket }))
      await s3.send(new HeadBucketCommand({ Bucket }))
      await rejects(s3.send(new HeadBucketCommand({ Bucket: `${Bucket}-absent` })), { name: 'NotFound' })
    })
    await this.#step('PutObject with unusual keys', async (s3) => {
      for (const Key of ODD_NAMES) await s3.send(new PutObjectCommand({ Bucket, Key, Body: Key }))
    })
    await this.#step('ListObjectsV2 in pages, GetObject', async (s3) => {
      const keys: string[] = []
      for await (const { Contents = [] } of paginateListObjectsV2({ client: s3, pageSize: 2 }, { Bucket }))
        keys.push(...Contents.map(({ Key = '' }) => Key))
      deepEqual(new Set(keys), new Set(ODD_NAMES))
      for (const Key of ODD_NAMES) {
        const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }))
        equal(await Body?.transformToString(), Key)
      }
    })
    await this.#stage.step('the native API reads the same objects', () => {
      const expected = ODD_NAMES.map((key) => [key, digestOfBytes(Buffer.from(key))] as const)
      return this.#stage.native.holds(Bucket, new Map(expected))
    })
    await this.#step('CopyObject', async (s3) => {
      const CopySource = `${Bucket}/${encodeURIComponent('plus+plus.txt')}`
      await s3.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource }))
      equal(await this.#stage.native.digest(Bucket, 'copy'), digestOfBytes(Buffer.from('plus+plus.txt')))
    })
  }

  async #facts(): Promise<void> {
    const object = { Bucket: this.#Bucket, Key: 'facts' }
    await this.#step('metadata, tags, a checksum', async (s3) => {
      const facts = {
        Metadata: { from: 'me' },
        ContentType: 'text/x-facts',
        CacheControl: 'no-store',
        Tagging: 'a=b',
      }
      await s3.send(new PutObjectCommand({ ...object, ...facts, Body: 'facts', ChecksumAlgorithm: 'SHA256' }))
      const head = await s3.send(new HeadObjectCommand({ ...object, ChecksumMode: 'ENABLED' }))
      deepEqual(head.Metadata, { from: 'me' })
      deepEqual([head.ContentType, head.CacheControl, head.ContentLength], ['text/x-facts', 'no-store', 5])
      equal(
        Buffer.from(head.ChecksumSHA256 ?? '', 'base64').toString('hex'),
        digestOfBytes(Buffer.from('facts')),
      )
      deepEqual((await s3.send(new GetObjectTaggingCommand(object))).TagSet, [{ Key: 'a', Value: 'b' }])
    })
    await this.#step('PutObjectTagging, GetObjectAttributes', async (s3) => {
      await s3.send(
        new PutObjectTaggingCommand({ ...object, Tagging: { TagSet: [{ Key: 'ä', Value: 'b c' }] } }),
      )
      deepEqual(await this.#stage.native.tags(object.Bucket, object.Key), { ä: 'b c' })
      const asked = {
        ...object,
        ObjectAttributes: ['ETag' as const, 'ObjectSize' as const, 'Checksum' as const],
      }
      equal((await s3.send(new GetObjectAttributesCommand(asked))).ObjectSize, 5)
    })
    await this.#step('conditions', async (s3) => {
      const put = { ...object, Body: 'other' }
      await rejects(s3.send(new PutObjectCommand({ ...put, IfNoneMatch: '*' })), {
        name: 'PreconditionFailed',
      })
      await rejects(s3.send(new PutObjectCommand({ ...put, IfMatch: '"0"' })), { name: 'PreconditionFailed' })
      await rejects(s3.send(new GetObjectCommand({ ...object, Key: 'absent' })), { name: 'NoSuchKey' })
    })
    await this.#step('a stream of unknown checksum', async (s3) => {
      // The checksum follows the bytes as a trailer.
      const Body = Readable.from([bytesOf('stream', MIB)])
      await s3.send(new PutObjectCommand({ ...object, Key: 'stream', Body, ContentLength: MIB }))
      equal(await this.#stage.native.digest(object.Bucket, 'stream'), digestOfBytes(bytesOf('stream', MIB)))
    })
  }

  async #parts(): Promise<void> {
    const { native, sizes } = this.#stage
    const Bucket = this.#Bucket
    await this.#step('lib-storage: an upload in parts', async (client) => {
      const params = { Bucket, Key: 'big', Body: createReadStream(this.#big.path), ContentType: 'text/x-big' }
      await new Upload({ client, params, partSize: sizes.partBytes }).done()
      equal(await native.digest(Bucket, 'big'), this.#big.sha256)
    })
    await this.#step('GetObject of the large object', async (s3) => {
      const { Body, ContentType } = await s3.send(new GetObjectCommand({ Bucket, Key: 'big' }))
      equal(ContentType, 'text/x-big')
      equal(await digestOf(Body as Readable), this.#big.sha256)
    })
    await this.#step('lib-storage: an upload is interrupted', async (client) => {
      const params = {
        Bucket,
        Key: 'resumed',
        Body: bytesOf('big', 2 * sizes.partBytes + 1),
      }
      const upload = new Upload({
        client,
        params,
        partSize: sizes.partBytes,
        queueSize: 1,
        leavePartsOnError: true,
      })
      upload.on('httpUploadProgress', ({ part = 0 }) => (part >= 1 ? void upload.abort() : undefined))
      await rejects(upload.done(), { name: 'AbortError' })
      equal((await native.partsArrived(Bucket)) >= 1, true)
    })
    await this.#step('the upload is resumed', async (s3) => {
      const { Uploads: [{ UploadId } = { UploadId: '' }] = [] } = await s3.send(
        new ListMultipartUploadsCommand({ Bucket }),
      )
      const upload = { Bucket, Key: 'resumed', UploadId: UploadId ?? '' }
      const { Parts = [] } = await s3.send(new ListPartsCommand(upload))
      const bytes = bytesOf('big', 2 * sizes.partBytes + 1)
      for (let PartNumber = Parts.length + 1; PartNumber <= 3; PartNumber++) {
        const from = (PartNumber - 1) * sizes.partBytes
        const Body = bytes.subarray(from, from + sizes.partBytes)
        const { ETag } = await s3.send(new UploadPartCommand({ ...upload, PartNumber, Body }))
        Parts.push({ PartNumber, ETag })
      }
      const MultipartUpload = { Parts: Parts.map(({ PartNumber, ETag }) => ({ PartNumber, ETag })) }
      await s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload }))
      equal(await native.digest(Bucket, 'resumed'), digestOfBytes(bytes))
    })
    await this.#step('AbortMultipartUpload', async (s3) => {
      const object = { Bucket, Key: 'aborted' }
      const { UploadId = '' } = await s3.send(new CreateMultipartUploadCommand(object))
      await s3.send(new AbortMultipartUploadCommand({ ...object, UploadId }))
      await rejects(s3.send(new ListPartsCommand({ ...object, UploadId })), { name: 'NoSuchUpload' })
    })
  }

  async #signed(): Promise<void> {
    const Bucket = this.#Bucket
    const { native } = this.#stage
    const Key = 'signed up+load %.txt'
    await this.#step('a presigned PUT', async (s3) => {
      const url = await getSignedUrl(s3, new PutObjectCommand({ Bucket, Key }), { expiresIn: 60 })
      const answer = await fetch(url, { method: 'PUT', body: 'by url' })
      equal(answer.status, 200, await answer.text())
      equal(await native.digest(Bucket, Key), digestOfBytes(Buffer.from('by url')))
    })
    await this.#step('a presigned GET', async (s3) => {
      const asked = { Bucket, Key, ResponseContentDisposition: 'attachment; filename="x.txt"' }
      const url = await getSignedUrl(s3, new GetObjectCommand(asked), { expiresIn: 60 })
      const answer = await fetch(url)
      equal(await answer.text(), 'by url')
      equal(answer.headers.get('content-disposition'), 'attachment; filename="x.txt"')
      const [signature = ''] = /(?<=X-Amz-Signature=)[0-9a-f]+/.exec(url) ?? []
      const changed = await fetch(
        url.replace(
          signature,
          signature.replace(/^./, (c) => (c === '0' ? '1' : '0')),
        ),
      )
      equal(changed.status, 403)
      match(await changed.text(), /SignatureDoesNotMatch/)
    })
    await this.#step('a presigned form', async (s3) => {
      const Conditions = [
        ['content-length-range' as const, 1, 100] as ['content-length-range', number, number],
      ]
      const { url, fields } = await createPresignedPost(s3, { Bucket, Key: 'form', Conditions, Expires: 60 })
      const post = (text: string): Promise<Response> => {
        const form = new FormData()
        for (const [name, value] of Object.entries(fields)) form.set(name, value)
        form.set('file', new Blob([text]), 'file.txt')
        return fetch(url, { method: 'POST', body: form })
      }
      const answer = await post('by form')
      equal(answer.status, 204, await answer.text())
      equal(await native.digest(Bucket, 'form'), digestOfBytes(Buffer.from('by form')))
      match(await (await post('x'.repeat(101))).text(), /EntityTooLarge/)
    })
  }

  async #versions(): Promise<void> {
    const Bucket = this.#Bucket
    await this.#step('versions and a delete marker', async (s3) => {
      const VersioningConfiguration = { Status: 'Enabled' as const }
      await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }))
      const { VersionId } = await s3.send(new PutObjectCommand({ Bucket, Key: 'v', Body: 'old' }))
      await s3.send(new PutObjectCommand({ Bucket, Key: 'v', Body: 'young' }))
      const { DeleteMarker } = await s3.send(new DeleteObjectCommand({ Bucket, Key: 'v' }))
      equal(DeleteMarker, true)
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: 'v', VersionId }))
      equal(await Body?.transformToString(), 'old')
    })
    await this.#step('ListObjectVersions', async (s3) => {
      const { Versions = [], DeleteMarkers = [] } = await s3.send(
        new ListObjectVersionsCommand({ Bucket, Prefix: 'v' }),
      )
      deepEqual(
        Versions.map(({ Size, IsLatest }) => [Size, IsLatest]),
        [
          [5, false],
          [3, false],
        ],
      )
      deepEqual(
        DeleteMarkers.map(({ IsLatest }) => IsLatest),
        [true],
      )
    })
  }

  async #lifecycle(): Promise<void> {
    const Bucket = this.#Bucket
    const Rules: LifecycleRule[] = [
      {
        ID: 'dated',
        Filter: { And: { Prefix: 'none/', Tags: [{ Key: 'a', Value: 'b' }] } },
        Status: 'Enabled',
        Expiration: { Date: new Date('2027-01-31T00:00:00Z') },
      },
      {
        ID: 'uploads',
        Filter: { Prefix: '' },
        Status: 'Enabled',
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 3 },
      },
    ]
    await this.#step('lifecycle rules', async (s3) => {
      const LifecycleConfiguration = { Rules }
      await s3.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration }))
      const found = await s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket }))
      deepEqual(found.Rules, Rules)
      await s3.send(new DeleteBucketLifecycleCommand({ Bucket }))
      const again = s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket }))
      await rejects(again, { name: 'NoSuchLifecycleConfiguration' })
    })
  }

  async #locks(): Promise<void> {
    const Bucket = this.#stage.bucket('sdk-locks')
    await this.#step('locks', async (s3) => {
      await s3.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }))
      const ObjectLockRetainUntilDate = new Date(Date.now() + DAY_MS)
      const put = {
        Bucket,
        Key: 'k',
        Body: 'k',
        ObjectLockMode: 'GOVERNANCE' as const,
        ObjectLockRetainUntilDate,
      }
      const { VersionId } = await s3.send(new PutObjectCommand(put))
      const version = { Bucket, Key: 'k', VersionId }
      await rejects(s3.send(new DeleteObjectCommand(version)), { name: 'AccessDenied' })
      await s3.send(new PutObjectLegalHoldCommand({ ...version, LegalHold: { Status: 'ON' } }))
      const bypass = new DeleteObjectCommand({ ...version, BypassGovernanceRetention: true })
      await rejects(s3.send(bypass), { name: 'AccessDenied' })
      await s3.send(new PutObjectLegalHoldCommand({ ...version, LegalHold: { Status: 'OFF' } }))
      await s3.send(new DeleteObjectCommand({ ...version, BypassGovernanceRetention: true }))
      await s3.send(new DeleteBucketCommand({ Bucket }))
    })
  }

  async #ends(): Promise<void> {
    const Bucket = this.#Bucket
    await this.#step('DeleteObjects of every version', async (s3) => {
      const { Versions = [], DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket }))
      const Objects = [...Versions, ...DeleteMarkers].map(({ Key = '', VersionId }) => ({ Key, VersionId }))
      ok(Objects.length > ODD_NAMES.length)
      const { Errors, Deleted = [] } = await s3.send(
        new DeleteObjectsCommand({ Bucket, Delete: { Objects } }),
      )
      equal(Errors, undefined)
      equal(Deleted.length, Objects.length)
    })
    await this.#step('DeleteBucket', async (s3) => {
      await s3.send(new DeleteBucketCommand({ Bucket }))
      await rejects(s3.send(new HeadBucketCommand({ Bucket })), { name: 'NotFound' })
    })
  }
}

export const AWS_SDK: ClientScript = {
  name: 'aws-sdk',
  absence: 'npm install',
  find: () => [
    { version: packageVersion('@aws-sdk/client-s3'), play: (stage) => new SdkRoundTrip(stage).play() },
  ],
}
