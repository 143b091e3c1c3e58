/**
 * One object: its head, versions, tags and locks, loaded with a bound.
 */
import { signal } from '@preact/signals'
import { ApiError, type DataOperations, type Holdfast } from '../../../client/src/index.ts'
import { dataResource } from './resource.ts'

export type Version = DataOperations['listObjectVersions']['answer']['versions'][number]
export type Tags = Readonly<Record<string, string>>

/** The newest of an object; that there are more is said. */
export const VERSIONS_MAX = 200

export interface ObjectName {
  readonly bucket: string
  readonly key: string
}

/** Which one `oneObject` loads. */
export const objectName = signal<ObjectName>({ bucket: '', key: '' })

async function versionsOf(api: Holdfast, { bucket, key }: ObjectName): Promise<readonly Version[]> {
  const found: Version[] = []
  for await (const version of api.versions({ bucket, prefix: key, maxKeys: VERSIONS_MAX })) {
    // Keys are in order: those of this key come before those that begin with it.
    if (version.key !== key || found.length === VERSIONS_MAX) break
    found.push(version)
  }
  return found
}

/** null instead of what this key may not read, or what is not there. */
async function orNone<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ApiError && [403, 404, 405, 409].includes(error.status)) return null
    throw error
  }
}

/** A listed key is well-formed, so 400 says that a key of its client is missing. */
async function headOf(api: Holdfast, name: ObjectName) {
  try {
    return { head: await orNone(api.headObject(name)), needsClientKey: false }
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return { head: null, needsClientKey: true }
    throw error
  }
}

export const oneObject = dataResource(async (api) => {
  const name = objectName.peek()
  const [{ head, needsClientKey }, versions, tags, retention, hold] = await Promise.all([
    headOf(api, name),
    orNone(versionsOf(api, name)),
    orNone(api.getObjectTags(name)),
    orNone(api.getObjectRetention(name)),
    orNone(api.getObjectLegalHold(name)),
  ])
  return { name, head, needsClientKey, versions: versions ?? [], tags: tags?.tags ?? {}, retention, hold }
})

export type OneObject = NonNullable<(typeof oneObject)['value']['value']>
