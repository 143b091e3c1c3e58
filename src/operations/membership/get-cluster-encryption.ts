/**
 * getClusterEncryption: authorize -> which master key seals, which keys the members have, and how far a rotation is.
 *
 * Owns: what of the announcements of the members is a rotation. Rules: no key is ever in the answer; what only a key file or a provider knows is not guessed.
 */
import type { KeyName } from '../../access/master-key-report.ts'
import { adminToken } from '../../access/rights.ts'
import type { Config } from '../../config/types.ts'
import type { View } from '../../state-machine/base/view.ts'
import { membersOf } from '../../state-machine/members/members.ts'
import { tenantKeys } from '../../state-machine/tenants/keys.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'

/** The id is null where the key is not in the file of this node. */
export interface ShownKey {
  readonly id: string | null
  readonly fingerprint: string
}

export interface KeysOfMember {
  readonly nodeId: string
  /** The newest first. Null: it never announced any, so it has the sealing key and no other. */
  readonly keys: readonly ShownKey[] | null
}

export interface ClusterEncryption {
  readonly nodeId: string
  readonly provider: Config['security']['keyProvider']['kind']
  readonly isMetadataSealed: boolean
  /** Null: the cluster has none yet. */
  readonly sealingKey: ShownKey | null
  /** The key that members want the cluster to seal with. Null: it is the one that seals. */
  readonly nextKey: ShownKey | null
  /** Members that do not have `nextKey` in first place. */
  readonly waitsFor: readonly string[]
  readonly secretsLeft: number | null
  readonly members: readonly KeysOfMember[]
}

export const getClusterEncryption = adminOperation(
  {
    id: 'getClusterEncryption',
    requires: adminToken('viewer', 'cluster'),
    refuses: [],
    target: noTarget,
  },
  async (services): Promise<ClusterEncryption> => {
    const { config, cluster, masterKeys, state } = services
    return {
      nodeId: cluster.nodeId,
      provider: config.security.keyProvider.kind,
      isMetadataSealed: config.node.sealMetadata,
      ...state.cut((view) => rotationOf(view, services)),
      secretsLeft: masterKeys.secretsLeft,
    }
  },
)

type Rotation = Pick<ClusterEncryption, 'sealingKey' | 'nextKey' | 'waitsFor' | 'members'>

function rotationOf(view: View, { cluster, masterKeys: { keys } }: Services): Rotation {
  const { masterKeyFingerprint: sealing = null, holders = {} } = view.get(tenantKeys.clusterKey()) ?? {}
  const shown = (fingerprint: string): ShownKey => {
    return { id: keys.find((key) => key.fingerprint === fingerprint)?.id ?? null, fingerprint }
  }
  // The file of this node is known without an announcement.
  const own = { [cluster.nodeId]: keys.map(({ fingerprint }: KeyName) => fingerprint) }
  const known: Readonly<Record<string, readonly string[]>> = { ...holders, ...own }
  const present = membersOf(view).members.filter(({ phase }) => phase !== 'lost')
  const members = present.map(({ nodeId }) => ({ nodeId, first: known[nodeId]?.[0] ?? sealing }))
  const wanted = members.map(({ first }) => first).find((first) => first !== sealing) ?? null
  const next = sealing === null ? null : wanted
  return {
    sealingKey: sealing === null ? null : shown(sealing),
    nextKey: next === null ? null : shown(next),
    waitsFor: next === null ? [] : members.filter(({ first }) => first !== next).map(({ nodeId }) => nodeId),
    members: members.map(({ nodeId }) => ({ nodeId, keys: known[nodeId]?.map(shown) ?? null })),
  }
}
