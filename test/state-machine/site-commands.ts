/** The commands of replication with all members, and readers of their rows. */
import type { View } from '../../src/state-machine/base/view.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { SendResult } from '../../src/state-machine/sites/commands.ts'
import { siteKeys } from '../../src/state-machine/sites/keys.ts'
import type { SiteChangeRecord, SiteRule, SiteStateRecord } from '../../src/state-machine/sites/records.ts'
import { bucketId } from './hook-commands.ts'
import { type MapWorld, rowsOf } from './map-world.ts'

export const MARK = {
  clusterId: 'c-1',
  bucketId: '0000B',
  versionId: '0'.repeat(26),
  time: 1_700_000_000_000,
}

export const TARGET = {
  endpoint: 'https://other.example',
  bucket: 'copies',
  region: 'us-east-1',
  isVirtualHost: false,
  accessKeyId: 'AKOTHER',
  identity: null,
} as const

export function siteRule(more: Partial<SiteRule> = {}): SiteRule {
  return { id: 'all', isEnabled: true, prefix: '', tags: {}, deletes: 'markers', ...more }
}

export function setReplication(
  view: View,
  rules: readonly SiteRule[] = [siteRule()],
  existing = false,
): Extract<Command, { type: 'setBucketReplication' }> {
  const name = { tenantId: 'acme', name: 'photos', bucketId: bucketId(view) }
  const secret = Uint8Array.of(7, 7)
  return { type: 'setBucketReplication', ...name, target: TARGET, secret, rules, existing }
}

/** In the order in which they are sent. */
export function waiting(world: MapWorld): readonly SiteChangeRecord[] {
  return rowsOf<SiteChangeRecord>(world, 'siteChange').sort((one, other) =>
    one.changeId < other.changeId ? -1 : 1,
  )
}

export const namesOf = (changes: readonly SiteChangeRecord[]): readonly string[] =>
  changes.map(({ kind, key }) => `${kind} ${key}`)

export function siteState(world: MapWorld): SiteStateRecord {
  const state = world.get(siteKeys.siteState(bucketId(world)))
  if (state === undefined) throw new Error('there is no state of a site')
  return state
}

export function sendOf(
  world: MapWorld,
  { changeId, attempts }: SiteChangeRecord,
  verdict: SendResult['verdict'],
  more: Partial<SendResult> = {},
): SendResult {
  const error = verdict === 'sent' || verdict === 'skipped' || verdict === 'conflict' ? null : `is ${verdict}`
  const name = { bucketId: bucketId(world), changeId, attempts }
  return { ...name, verdict, error, retryAfterMs: null, jitter: 0, ...more }
}
