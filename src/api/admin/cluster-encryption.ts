/**
 * The route of the master keys of the cluster. No rules here; no key, sealed or not, is ever an answer.
 */
import Type, { type Static } from 'typebox'
import {
  type ClusterEncryption,
  getClusterEncryption,
  type ShownKey,
} from '../../operations/membership/get-cluster-encryption.ts'
import { adminRoute, type Answer } from '../route.ts'
import { orNull } from '../wire.ts'

const Key = Type.Object(
  {
    id: orNull(Type.String({ description: 'null: the key is not in the file of the node that answers' })),
    fingerprint: Type.String({ description: 'Distinguishes master keys, and reveals nothing of them' }),
  },
  { additionalProperties: false },
)

export const ClusterEncryptionView = Type.Object(
  {
    nodeId: Type.String({ description: 'The node that answers' }),
    provider: Type.Enum(['file', 'vault', 'kms', 'pkcs11'], {
      description: 'What opens the key file of this node: security.master_key_provider',
    }),
    metadataSealed: Type.Boolean({
      description: 'The metadata on the disk of this node is sealed: node.seal_metadata',
    }),
    sealingKey: orNull(Key),
    nextKey: orNull(Key),
    waitsFor: Type.Array(Type.String(), {
      description: 'Members whose first key is not nextKey: a rotation waits until none is left',
    }),
    secretsLeft: orNull(
      Type.Integer({
        minimum: 0,
        description:
          'Secrets that are not sealed under the newest key of this node, as of its last walk; null: it made none, because it is not the leader or has one key',
      }),
    ),
    members: Type.Array(
      Type.Object(
        {
          nodeId: Type.String(),
          keys: orNull(
            Type.Array(Key, {
              description:
                'The newest first; null: the member announced none, so it has the sealing key alone',
            }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
)

export const clusterEncryptionRoute = adminRoute(
  getClusterEncryption,
  {
    method: 'GET',
    path: '/cluster/encryption',
    summary: 'Get which master key seals, which keys the members have, and how far a rotation is',
    description:
      'sealingKey is the key that the cluster seals with; nextKey is what members want it to seal with, null if that is the same. Master keys are changed on the machines of the nodes, with holdfast master-key.',
    success: {
      status: 200,
      description: 'The master keys by their names',
      content: { type: 'application/json', schema: ClusterEncryptionView },
    },
    example: {},
  },
  async (services, principal): Promise<Answer> => {
    return { kind: 'json', body: encryptionView(await getClusterEncryption(services, principal)) }
  },
)

function encryptionView({
  isMetadataSealed,
  sealingKey,
  nextKey,
  waitsFor,
  members,
  ...same
}: ClusterEncryption): Static<typeof ClusterEncryptionView> {
  return {
    ...same,
    metadataSealed: isMetadataSealed,
    sealingKey: sealingKey && { ...sealingKey },
    nextKey: nextKey && { ...nextKey },
    waitsFor: [...waitsFor],
    members: members.map(({ nodeId, keys }) => ({ nodeId, keys: keys && copied(keys) })),
  }
}

const copied = (keys: readonly ShownKey[]) => keys.map((key) => ({ ...key }))
