/**
 * The sender of one node, as the service puts it together, over a modelled way to the other site.
 *
 * Owns: that wiring and the pace. Knows nothing of: faults. Rule: sender, walk and what they read are those of the service.
 */
import type { Logger } from '../../../cluster/base/types.ts'
import type { Content } from '../../../src/content/content.ts'
import type { Propose } from '../../../src/commands/propose.ts'
import type { RemoteStore } from '../../../src/operations/base/remote-store.ts'
import type { Command, Reply } from '../../../src/state-machine/commands.ts'
import { keyHere, readVersion } from '../../../src/workers/sites/read-version.ts'
import { Resyncing } from '../../../src/workers/sites/resyncing.ts'
import { sendChange } from '../../../src/workers/sites/send-change.ts'
import { Sending } from '../../../src/workers/sites/sending.ts'
import type { SimReader } from './sim-reader.ts'

export interface SenderParts {
  readonly clusterId: string
  readonly isJobRunner: () => boolean
  readonly readBarrier: () => Promise<void>
  readonly reader: SimReader
  readonly propose: (command: Command) => Promise<Reply>
  readonly now: () => number
  readonly random: () => number
  /** The other site, as this node reaches it. */
  readonly gateway: (bucket: string) => RemoteStore
  readonly logger: Logger
}

export interface SiteSender {
  readonly sending: Sending
  readonly resyncing: Resyncing
}

export function siteSender(parts: SenderParts): SiteSender {
  const { clusterId, isJobRunner, readBarrier, reader: state, now, random, gateway, logger } = parts
  // Every command has the reply of its type.
  const propose = parts.propose as Propose
  const read: unknown = inlineBytes
  const content = { read } as Pick<Content, 'read'>
  const cluster = { isJobRunner, readBarrier }
  const sending = new Sending({
    cluster,
    state,
    propose,
    now,
    random,
    logger,
    send: (site, change) => {
      const { bucketId, bucket, target } = site
      const version = readVersion({ state, content }, site, change)
      const origin = { clusterId, bucketId }
      const here = keyHere({ state }, bucketId, change)
      const remote = gateway(bucket)
      return sendChange({ remote, change, version, here, now: now(), origin, other: target.identity })
    },
  })
  return { sending, resyncing: new Resyncing({ cluster, state, propose, sending, now, logger }) }
}

/** Replicated objects of a simulation are small enough to lie in their row. */
async function* inlineBytes(
  _tenant: unknown,
  { pinned }: { readonly pinned?: { readonly inline?: { readonly sealed: Uint8Array } } },
): AsyncIterable<Uint8Array> {
  if (pinned?.inline !== undefined) yield pinned.inline.sealed
}
