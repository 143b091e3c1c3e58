/**
 * What operations aim at, as authorization asks for it: a bucket, a key, a version, the keys of a listing, a tenant.
 */
import type { Target } from '../../access/base/target.ts'

/** For operations that name no bucket, key or tenant. */
export const noTarget = (): Target => ({})

export const bucketTarget = ({ bucket }: { readonly bucket: string }): Target => ({ bucket })

export const keyTarget = ({ bucket, key }: { readonly bucket: string; readonly key: string }): Target => ({
  bucket,
  key,
})

/** A request that names a version is authorized for that version. */
export const versionTarget = ({
  bucket,
  key,
  versionId,
}: {
  readonly bucket: string
  readonly key: string
  readonly versionId: string | undefined
}): Target => ({ bucket, key, versionId })

/** A retention that comes along is part of what is authorized. */
export const newVersionTarget = ({
  bucket,
  key,
  retention,
}: {
  readonly bucket: string
  readonly key: string
  readonly retention: { readonly until: number } | null
}): Target => ({ bucket, key, retainUntil: retention?.until })

/** Of a listing: the prefix is the key that a scope must cover. */
export const listingTarget = ({
  bucket,
  prefix,
  delimiter,
}: {
  readonly bucket: string
  readonly prefix: string
  readonly delimiter?: string
}): Target => ({ bucket, key: prefix, delimiter })

/** `id`: of the tenant. */
export const tenantTarget = ({ id }: { readonly id: string }): Target => ({ tenantId: id })
