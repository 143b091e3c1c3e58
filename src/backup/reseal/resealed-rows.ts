/**
 * What becomes of a row when its backup is sealed under another master key.
 *
 * Owns: which kinds of rows hold secrets that are sealed under a master key. Knows nothing of: files, targets. No I/O.
 * Rules: everything that access/sealed-secrets.ts seals again is here, and a new kind of row with bytes does not compile before it is decided; a secret that does not open ends the work, because a backup without it is less than
 * it says; secrets that were destroyed stay so; nothing else of a row changes.
 */
import type { MasterKey } from '../../access/master-key.ts'
import {
  accessKeySecret,
  auditDataKey,
  auditDedupKey,
  backupTargetSecret,
  hookSecret,
  siteSecret,
  tenantDataKey,
  tenantDedupKey,
  tenantSiteSecret,
} from '../../access/sealing-contexts.ts'
import { dataKeyVersionOf } from '../../state-machine/tenants/data-keys.ts'
import type { RowTypes } from '../../state-machine/rows.ts'
import { TargetRefused } from '../targets/target.ts'

export interface TwoKeys {
  readonly from: Pick<MasterKey, 'open'>
  readonly to: Pick<MasterKey, 'seal' | 'id' | 'fingerprint'>
}

type Again = (sealed: Uint8Array, context: string) => Uint8Array
type Change<K extends keyof RowTypes> = (row: RowTypes[K], again: Again, keys: TwoKeys) => RowTypes[K]
/** Kinds with a member of bytes. Those that hold them deeper are beside them in the table. */
type WithBytes = {
  [K in keyof RowTypes]: Uint8Array extends RowTypes[K][keyof RowTypes[K]] ? K : never
}[keyof RowTypes]
type Kinds = { readonly [K in WithBytes]: Change<K> | null } & {
  readonly [K in keyof RowTypes]?: Change<K> | null
}

const KINDS: Kinds = {
  // Sealed under keys of tenants.
  inlineBody: null,
  // Packed rows.
  auditLink: null,
  clusterKey: (_, _again, { to }) => ({ masterKeyFingerprint: to.fingerprint }),
  tenant: (row, again, { to }) => {
    const { id, dataKey, dedupKey, formerKey } = row
    return {
      ...row,
      dataKey: again(dataKey, tenantDataKey(id, dataKeyVersionOf(row))),
      dedupKey: again(dedupKey, tenantDedupKey(id)),
      masterKeyId: to.id,
      ...(formerKey === undefined
        ? {}
        : {
            formerKey: {
              ...formerKey,
              dataKey: again(formerKey.dataKey, tenantDataKey(id, formerKey.version)),
            },
          }),
    }
  },
  accessKey: (row, again) => ({ ...row, secret: again(row.secret, accessKeySecret(row.accessKeyId)) }),
  hook: (row, again) => ({ ...row, secret: again(row.secret, hookSecret(row.hookId)) }),
  site: (row, again) => ({ ...row, secret: again(row.secret, siteSecret(row.bucketId)) }),
  tenantSite: (row, again) => ({ ...row, secret: again(row.secret, tenantSiteSecret(row.tenantId)) }),
  backupTarget: (row, again) => {
    const { name, place } = row
    return place.kind === 's3'
      ? { ...row, place: { ...place, secret: again(place.secret, backupTargetSecret(name)) } }
      : row
  },
  auditKeys: ({ dataKey, dedupKey }, again) => ({
    dataKey: again(dataKey, auditDataKey()),
    dedupKey: again(dedupKey, auditDedupKey()),
  }),
}

/** Null: rows of this kind hold no such secret. Throws TargetRefused. */
export function resealer(kind: string, keys: TwoKeys): ((row: object) => object) | null {
  const change = Object.hasOwn(KINDS, kind) ? KINDS[kind as keyof RowTypes] : undefined
  if (change === undefined || change === null) return null
  const again: Again = (sealed, context) =>
    sealed.length === 0 ? sealed : keys.to.seal(opened(keys, sealed, context), context)
  return (row) => (change as (row: object, again: Again, keys: TwoKeys) => object)(row, again, keys)
}

function opened({ from }: TwoKeys, sealed: Uint8Array, context: string): Uint8Array {
  try {
    return from.open(sealed, context)
  } catch (cause) {
    throw new TargetRefused(
      `The secret "${context}" of the backup does not open under the master keys here: name the key file of the cluster that made it, with all its keys`,
      { cause },
    )
  }
}
