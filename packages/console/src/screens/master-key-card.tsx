/**
 * The master keys of the cluster: which one seals, and how far a rotation is.
 */
import { useEffect } from 'preact/hooks'
import type { ClusterEncryption } from '../../../client/src/admin.ts'
import { Card, FactList, Loaded } from '../parts/basics.tsx'
import { Table } from '../parts/table.tsx'
import { masterKeys } from '../state/cluster-data.ts'
import { count } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'

type Key = NonNullable<ClusterEncryption['sealingKey']>

const SAYS = TEXT.masterKey

export function MasterKeyCard() {
  useEffect(() => void masterKeys.load(), [])
  return (
    <Card title={SAYS.title}>
      <Loaded of={masterKeys}>
        {({ nodeId, provider, metadataSealed, sealingKey, members, ...rotation }) => (
          <>
            <FactList
              rows={[
                [SAYS.sealing, sealingKey === null ? TEXT.none : <Name of={sealingKey} />],
                [SAYS.rotation, rotationText({ members, ...rotation })],
                [SAYS.provider(nodeId), SAYS.providers[provider]],
                [SAYS.metadata(nodeId), metadataSealed ? SAYS.sealed : SAYS.plain],
              ]}
            />
            <Table
              label={SAYS.members}
              empty={TEXT.none}
              keyOf={(member) => member.nodeId}
              rows={members}
              columns={[
                { head: SAYS.member, cell: (member) => member.nodeId },
                {
                  head: SAYS.keys,
                  cell: ({ keys }) =>
                    keys === null ? SAYS.one : keys.map((key) => <Name key={key.fingerprint} of={key} />),
                },
              ]}
            />
            <p class="soft">{SAYS.about}</p>
          </>
        )}
      </Loaded>
    </Card>
  )
}

function Name({ of: { id, fingerprint } }: { readonly of: Key }) {
  return (
    <span class="code" title={fingerprint}>
      {id ?? fingerprint.slice(0, 12)}{' '}
    </span>
  )
}

function rotationText({
  nextKey,
  waitsFor,
  secretsLeft,
  members,
}: Pick<ClusterEncryption, 'nextKey' | 'waitsFor' | 'secretsLeft' | 'members'>): string {
  if (nextKey !== null) {
    const to = SAYS.to(nextKey.id ?? nextKey.fingerprint.slice(0, 12))
    return waitsFor.length === 0 ? to : `${to} ${SAYS.waits(waitsFor.join(', '))}`
  }
  if (secretsLeft !== null) return secretsLeft === 0 ? SAYS.quiet : SAYS.left(count(secretsLeft))
  return members.some(({ keys }) => (keys?.length ?? 1) > 1) ? SAYS.kept : SAYS.quiet
}
