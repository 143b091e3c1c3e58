/**
 * The same objects through the native API: what a client stored must be there with the same keys, bytes and facts.
 *
 * Rule: keys are compared as whole sets, so an object too many is found as well.
 */
import { deepEqual } from 'node:assert/strict'
import { type DataClient, dataClient } from '../../../src/client/clients.ts'
import { type Digests, digestOf, listed } from './files.ts'

const READS_AT_ONCE = 8

export class NativeView {
  readonly client: DataClient

  constructor(
    endpoints: readonly string[],
    key: { readonly accessKeyId: string; readonly secretKey: string },
  ) {
    this.client = dataClient({ endpoints, ...key })
  }

  /** Throws unless the bucket has exactly these objects below the prefix, each with these bytes. */
  async holds(bucket: string, expected: Digests, prefix = ''): Promise<void> {
    deepEqual(listed(await this.digests(bucket, prefix)), listed(expected, prefix))
  }

  async keys(bucket: string, prefix = ''): Promise<readonly string[]> {
    const keys: string[] = []
    let continuationToken: string | undefined
    do {
      const query = { prefix, ...(continuationToken === undefined ? {} : { continuationToken }) }
      const { answer } = await this.client.call('listObjects', { params: { bucket }, query })
      keys.push(...answer.objects.map(({ key }) => key))
      continuationToken = answer.nextContinuationToken
    } while (continuationToken !== undefined)
    return keys
  }

  async digests(bucket: string, prefix = ''): Promise<Map<string, string>> {
    const keys = (await this.keys(bucket, prefix)).values()
    const digests = new Map<string, string>()
    const read = async (): Promise<void> => {
      for (const key of keys) digests.set(key, await this.digest(bucket, key))
    }
    await Promise.all(Array.from({ length: READS_AT_ONCE }, read))
    return digests
  }

  async digest(bucket: string, key: string): Promise<string> {
    const { answer } = await this.client.call('getObject', { params: { bucket, key } })
    return digestOf(answer)
  }

  /** Headers of an object, with lower-case names. */
  async facts(bucket: string, key: string): Promise<Readonly<Record<string, string>>> {
    return (await this.client.call('headObject', { params: { bucket, key } })).headers
  }

  async tags(bucket: string, key: string): Promise<Readonly<Record<string, string>>> {
    return (await this.client.call('getObjectTags', { params: { bucket, key } })).answer.tags
  }

  /** How many parts of unfinished uploads of the bucket have arrived. */
  async partsArrived(bucket: string): Promise<number> {
    const { answer } = await this.client.call('listMultipartUploads', { params: { bucket } })
    let parts = 0
    for (const { key, uploadId } of answer.uploads)
      parts += (await this.client.call('listParts', { params: { bucket, key, uploadId } })).answer.parts
        .length
    return parts
  }

  close(): Promise<void> {
    return this.client.close()
  }
}
