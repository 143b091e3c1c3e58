/**
 * What a node does once after its start, as soon as the cluster answers.
 *
 * Owns: the comparison of the master key with the replicated state, and the granting of pending admin tokens.
 * Rule: a node whose master key is not the cluster's must stop; everything it sealed would be lost to the others.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { type Cluster, Condition, StartError } from '../../cluster/index.ts'
import type { Services } from '../operations/services.ts'
import { settle } from '../operations/settle.ts'
import type { Agreement } from './agreement.ts'
import { grantPendingWishes } from './pending-tokens.ts'

const RETRY_MS = 250

/** `cluster` is the machine itself: the one that serves requests is held back until this is done. */
async function checkMasterKey(services: Services, cluster: Pick<Cluster, 'readBarrier'>): Promise<void> {
  await cluster.readBarrier()
  const { masterKeyFingerprint: own } = services
  const known = services.state.masterKeyFingerprint()
  const agreed =
    known ??
    settle(await services.propose({ type: 'setClusterKey', masterKeyFingerprint: own })).masterKeyFingerprint
  if (agreed === own) return
  throw new StartError(
    'wrong_master_key',
    'The master key of this node is not the one that this cluster was made with',
    {
      hint: 'Give security.master_key_file the same file that the other nodes have. Nothing was changed.',
    },
  )
}

export interface SettlingParts {
  readonly services: Services
  readonly cluster: Pick<Cluster, 'readBarrier'>
  readonly agreement: Agreement
}

/** Resolves when all is done or the signal fired; rejects only with what must stop the node. */
export async function settleIn(parts: SettlingParts, signal: AbortSignal): Promise<void> {
  const { services, cluster, agreement } = parts
  const { config, logger } = services
  const steps = [
    async () => {
      await checkMasterKey(services, cluster)
      agreement.reached()
    },
    () => grantPendingWishes(services, config.node.dataDir, logger),
  ]
  for (const step of steps) {
    while (!signal.aborted) {
      try {
        await step()
        break
      } catch (error) {
        // No leader yet, or one that just changed: everything here may be repeated.
        if (!(error instanceof Condition)) throw error
        await wait(RETRY_MS, undefined, { signal }).catch(() => undefined)
      }
    }
  }
}
