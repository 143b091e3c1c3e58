/**
 * The MinIO client for JavaScript: streams, an upload that it resumes by itself, presigned URLs and forms.
 */
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { Readable } from 'node:stream'
import { Client, type ItemBucketMetadata } from 'minio'
import type { ClientScript } from './base/client-script.ts'
import {
  bytesOf,
  digestOf,
  digestOfBytes,
  digestOfFile,
  type LocalFile,
  ODD_NAMES,
  writeLocal,
} from './base/files.ts'
import { packageVersion } from './base/package-version.ts'
import type { Stage } from './base/stage.ts'

const DAY_MS = 86_400_000

/** Some calls return a promise, and their types say that they return nothing. */
const settled = (call: unknown): Promise<unknown> => Promise.resolve(call)

class MinioRoundTrip {
  readonly #stage: Stage
  readonly #bucket: string
  #big: LocalFile = { path: '', bytes: 0, sha256: '' }

  constructor(stage: Stage) {
    this.#stage = stage
    this.#bucket = stage.bucket('minio')
  }

  async play(): Promise<void> {
    this.#big = await writeLocal(this.#stage.path('big.bin'), this.#stage.sizes.bigBytes, 'big')
    await this.#objects()
    await this.#facts()
    await this.#parts()
    await this.#signed()
    await this.#versionsAndLocks()
    await this.#ends()
  }

  #step(name: string, work: (client: Client) => Promise<unknown>): Promise<void> {
    const { accessKeyId: accessKey, secretKey } = this.#stage.credentials
    return this.#stage.step(name, (endpoint) => {
      const { hostname: endPoint, port } = new URL(endpoint)
      const partSize = this.#stage.sizes.partBytes
      return work(new Client({ endPoint, port: Number(port), useSSL: false, accessKey, secretKey, partSize }))
    })
  }

  async #objects(): Promise<void> {
    const bucket = this.#bucket
    await this.#step('makeBucket, bucketExists, listBuckets', async (client) => {
      await client.makeBucket(bucket, 'us-east-1')
      equal(await client.bucketExists(bucket), true)
      equal(await client.bucketExists(`${bucket}-absent`), false)
      ok((await client.listBuckets()).some(({ name }) => name === bucket))
    })
    await this.#step('putObject with unusual keys', async (client) => {
      for (const key of ODD_NAMES) await client.putObject(bucket, key, Buffer.from(key))
    })
    await this.#step('listObjects and listObjectsV2, getObject', async (client) => {
      for (const stream of [client.listObjects(bucket, '', true), client.listObjectsV2(bucket, '', true)]) {
        const keys = (await stream.toArray()).map(({ name }: { readonly name?: string }) => name)
        deepEqual(new Set(keys), new Set(ODD_NAMES))
      }
      for (const key of ODD_NAMES)
        equal(await digestOf(await client.getObject(bucket, key)), digestOfBytes(Buffer.from(key)))
    })
    await this.#stage.step('the native API reads the same objects', () => {
      const expected = ODD_NAMES.map((key) => [key, digestOfBytes(Buffer.from(key))] as const)
      return this.#stage.native.holds(bucket, new Map(expected))
    })
    await this.#step('copyObject, getPartialObject', async (client) => {
      await client.copyObject(bucket, 'copy', `/${bucket}/plus+plus.txt`)
      const piece = await client.getPartialObject(bucket, 'copy', 1, 3)
      equal(Buffer.concat(await piece.toArray()).toString(), 'lus')
    })
  }

  async #facts(): Promise<void> {
    const bucket = this.#bucket
    await this.#step('metadata', async (client) => {
      const facts: ItemBucketMetadata = {
        'Content-Type': 'text/x-facts',
        'X-Amz-Meta-From': 'me',
        from2: 'you',
      }
      await client.putObject(bucket, 'facts', Buffer.from('facts'), 5, facts)
      const { size, metaData } = await client.statObject(bucket, 'facts')
      deepEqual(
        [size, metaData['content-type'], metaData['from'], metaData['from2']],
        [5, 'text/x-facts', 'me', 'you'],
      )
    })
    await this.#step('tags of an object and of the bucket', async (client) => {
      await client.setObjectTagging(bucket, 'facts', { 'a b': 'ä' })
      deepEqual(await this.#stage.native.tags(bucket, 'facts'), { 'a b': 'ä' })
      deepEqual(await client.getObjectTagging(bucket, 'facts'), [{ Key: 'a b', Value: 'ä' }])
      await client.removeObjectTagging(bucket, 'facts', { versionId: '' })
      await client.setBucketTagging(bucket, { team: 'web' })
      deepEqual(await client.getBucketTagging(bucket), [{ Key: 'team', Value: 'web' }])
      await client.removeBucketTagging(bucket)
    })
  }

  async #parts(): Promise<void> {
    const { native, sizes } = this.#stage
    const bucket = this.#bucket
    await this.#step('fPutObject in parts, fGetObject', async (client) => {
      await client.fPutObject(bucket, 'big', this.#big.path, { 'X-Amz-Meta-From': 'parts' })
      await client.fGetObject(bucket, 'big', this.#stage.path('back'))
      equal(await digestOfFile(this.#stage.path('back')), this.#big.sha256)
    })
    await this.#step('an upload is interrupted', async (client) => {
      // What fPutObject has sent when its process ends after the first part.
      const uploadID = await client.initiateNewMultipartUpload(bucket, 'resumed', {})
      const part = { bucketName: bucket, objectName: 'resumed', uploadID, partNumber: 1, headers: {} }
      await client.uploadPart(part, bytesOf('big', sizes.partBytes))
      equal((await native.partsArrived(bucket)) >= 1, true)
    })
    await this.#step('listIncompleteUploads; the upload resumes', async (client) => {
      const uploads = await client.listIncompleteUploads(bucket, '', true).toArray()
      deepEqual(
        uploads.map(({ key }: { readonly key: string }) => key),
        ['resumed'],
      )
      await client.fPutObject(bucket, 'resumed', this.#big.path)
      equal(await native.digest(bucket, 'resumed'), this.#big.sha256)
      equal(await native.partsArrived(bucket), 0)
    })
  }

  async #signed(): Promise<void> {
    const bucket = this.#bucket
    const key = 'signed up+load.txt'
    const { native } = this.#stage
    await this.#step('presignedPutObject', async (client) => {
      const answer = await fetch(await client.presignedPutObject(bucket, key, 60), {
        method: 'PUT',
        body: 'by url',
      })
      equal(answer.status, 200, await answer.text())
      equal(await native.digest(bucket, key), digestOfBytes(Buffer.from('by url')))
    })
    await this.#step('presignedGetObject', async (client) => {
      const url = await client.presignedGetObject(bucket, key, 60, { 'response-content-type': 'text/other' })
      const answer = await fetch(url)
      deepEqual([await answer.text(), answer.headers.get('content-type')], ['by url', 'text/other'])
    })
    await this.#step('presignedPostPolicy', async (client) => {
      const policy = client.newPostPolicy()
      policy.setBucket(bucket)
      policy.setKey('form')
      policy.setExpires(new Date(Date.now() + 60_000))
      policy.setContentLengthRange(1, 100)
      const { postURL, formData } = await client.presignedPostPolicy(policy)
      const form = new FormData()
      for (const [name, value] of Object.entries(formData)) form.set(name, String(value))
      form.set('file', new Blob(['by form']), 'file.txt')
      const answer = await fetch(postURL, { method: 'POST', body: form })
      equal(answer.status, 204, await answer.text())
      equal(await native.digest(bucket, 'form'), digestOfBytes(Buffer.from('by form')))
    })
  }

  async #versionsAndLocks(): Promise<void> {
    const bucket = this.#stage.bucket('minio-locks')
    let versionId = ''
    await this.#step('versions', async (client) => {
      await client.makeBucket(bucket, 'us-east-1', { ObjectLocking: true })
      equal((await client.getBucketVersioning(bucket)).Status, 'Enabled')
      versionId = (await client.putObject(bucket, 'k', Buffer.from('old'))).versionId ?? ''
      await client.putObject(bucket, 'k', Buffer.from('young'))
      equal(
        await digestOf(await client.getObject(bucket, 'k', { versionId })),
        digestOfBytes(Buffer.from('old')),
      )
      equal((await client.listObjects(bucket, '', true, { IncludeVersion: true }).toArray()).length, 2)
    })
    await this.#step('locks', async (client) => {
      const retainUntilDate = new Date(Date.now() + DAY_MS).toISOString()
      await client.putObjectRetention(bucket, 'k', { mode: 'GOVERNANCE', retainUntilDate, versionId })
      equal((await client.getObjectRetention(bucket, 'k', { versionId }))?.mode, 'GOVERNANCE')
      await rejects(client.removeObject(bucket, 'k', { versionId }), { code: 'AccessDenied' })
      await settled(client.setObjectLegalHold(bucket, 'k', { versionId, status: 'ON' }))
      match(JSON.stringify(await client.getObjectLegalHold(bucket, 'k', { versionId })), /"ON"/)
      await settled(client.setObjectLegalHold(bucket, 'k', { versionId, status: 'OFF' }))
      await client.removeObject(bucket, 'k', { versionId, governanceBypass: true })
    })
    await this.#step('a default retention', async (client) => {
      await settled(client.setObjectLockConfig(bucket, { mode: 'GOVERNANCE', unit: 'Days', validity: 2 }))
      const { answer } = await this.#stage.native.client.call('getBucket', { params: { bucket } })
      equal(answer.defaultRetention?.['mode'], 'GOVERNANCE')
    })
  }

  async #ends(): Promise<void> {
    const bucket = this.#bucket
    await this.#step('a stream of 1 MiB, removeObjects, removeBucket', async (client) => {
      await client.putObject(bucket, 'stream', Readable.from([bytesOf('stream', 1024 * 1024)]), 1024 * 1024)
      await client.removeObjects(bucket, [...(await this.#stage.native.keys(bucket))])
      deepEqual(await this.#stage.native.keys(bucket), [])
      await client.removeBucket(bucket)
      equal(await client.bucketExists(bucket), false)
    })
  }
}

export const MINIO_JS: ClientScript = {
  name: 'minio-js',
  absence: 'npm install',
  find: () => [{ version: packageVersion('minio'), play: (stage) => new MinioRoundTrip(stage).play() }],
}
