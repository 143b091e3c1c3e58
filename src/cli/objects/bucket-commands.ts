/**
 * `holdfast bucket`: create, show, change and delete buckets.
 */
import type { Bucket } from '../../client/generated/data-operations.ts'
import { askData } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { note, printFacts, printJson } from '../base/printing.ts'

export interface BucketOptions extends DataAccessOptions {
  readonly json?: boolean
}

export interface CreateBucketOptions extends BucketOptions {
  readonly versioning?: boolean
  readonly objectLock?: boolean
}

export function createBucket(name: string, options: CreateBucketOptions): Promise<number> {
  const { versioning = false, objectLock = false } = options
  const body = {
    name,
    ...(versioning ? { versioning: 'Enabled' } : {}),
    ...(objectLock ? { objectLockEnabled: true } : {}),
  }
  return askData(options, async (client) =>
    shown((await client.call('createBucket', { body })).answer, options),
  )
}

export function getBucket(bucket: string, options: BucketOptions): Promise<number> {
  return askData(options, async (client) =>
    shown((await client.call('getBucket', { params: { bucket } })).answer, options),
  )
}

export function deleteBucket(bucket: string, options: BucketOptions): Promise<number> {
  return askData(options, async (client) => {
    await client.call('deleteBucket', { params: { bucket } })
    if (options.json) printJson({ name: bucket, deleted: true })
    else note(`removed ${bucket}`)
    return EXIT.done
  })
}

/** `status` null: it is only shown. */
export function setVersioning(
  bucket: string,
  status: string | null,
  options: BucketOptions,
): Promise<number> {
  const params = { bucket }
  return askData(options, async (client) => {
    const { answer } =
      status === null
        ? await client.call('getBucketVersioning', { params })
        : await client.call('setBucketVersioning', { params, body: { status } })
    if (options.json) printJson(answer)
    else note(`${bucket}: versioning is ${answer.status}`)
    return EXIT.done
  })
}

export interface ObjectLockOptions extends BucketOptions {
  readonly mode?: 'GOVERNANCE' | 'COMPLIANCE'
  readonly days?: number
  readonly years?: number
}

/** Without a mode: there is no default retention from now on. */
export function setObjectLock(bucket: string, options: ObjectLockOptions): Promise<number> {
  const { mode, days, years } = options
  const duration = { ...(days === undefined ? {} : { days }), ...(years === undefined ? {} : { years }) }
  const defaultRetention = mode === undefined ? null : { mode, ...duration }
  return askData(options, async (client) => {
    const call = { params: { bucket }, body: { defaultRetention } }
    const { answer } = await client.call('setBucketObjectLock', call)
    if (options.json) printJson(answer)
    else printFacts({ ...answer })
    return EXIT.done
  })
}

function shown(bucket: Bucket, { json = false }: BucketOptions): number {
  if (json) printJson(bucket)
  else printFacts({ ...bucket })
  return EXIT.done
}
