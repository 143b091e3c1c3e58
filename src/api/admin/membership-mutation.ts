/**
 * Routes that change the members: an operation that continues by itself, or the answer that nothing is to be done.
 *
 * Owns: what both look like on the wire. Rule: what is done already answers 200 with `noop` and begins nothing.
 */
import Type, { type TObject } from 'typebox'
import type { AdminOperation } from '../../operations/base/operation.ts'
import type { StartedChange } from '../../operations/membership/change-members.ts'
import type { RouteDefinition } from '../route.ts'
import { orNull } from '../wire.ts'
import { type MutationFacts, longOperationRoute, type Steps } from './mutation.ts'

const Count = Type.Integer({ minimum: 0 })
const PLAN = Type.Object({
  steps: Type.Array(
    Type.Object({
      step: Type.String({ description: 'now, and what becomes of the member' }),
      voters: Type.Array(Type.String()),
      majority: Count,
      failureTolerance: Count,
    }),
  ),
  copiesToMove: Count,
  bytesToMove: Count,
  lastCopies: Type.Integer({ minimum: 0, description: 'Of those: no other copy is listed' }),
  isComplete: Type.Boolean({ description: 'false: there are more chunks than were looked at' }),
  newcomer: orNull(
    Type.Object(
      {
        nodeId: Type.String(),
        incarnation: Type.String({ description: 'Of its data directory' }),
        peerAddress: Type.String(),
        version: Type.String(),
        fingerprint: orNull(
          Type.String({
            description:
              'SHA-256 of the certificate that it showed to the asked node; null: nodes speak without TLS',
          }),
        ),
      },
      { description: 'The node that waits to join; null: none does, or the change is blocked' },
    ),
  ),
})
const NOOP = Type.Object(
  {
    noop: Type.Boolean({ description: 'true: the cluster is as it was asked for already' }),
    nodeId: Type.String(),
    configIndex: Count,
  },
  { additionalProperties: false },
)

/** Of routes that answer 200 the operation may still continue: they have changed what cannot be taken back. */
export function membershipRoute<Path extends string, B extends TObject>(
  operation: AdminOperation<never, StartedChange>,
  facts: Omit<MutationFacts<Path, B, typeof PLAN>, 'plan' | 'method'> &
    Pick<Parameters<typeof longOperationRoute>[1], 'status' | 'first'>,
  { run, plan }: Steps<Path, B, typeof PLAN, StartedChange>,
): RouteDefinition {
  return longOperationRoute(
    operation,
    { ...facts, method: 'POST', plan: PLAN, instead: NOOP },
    {
      run: async (services, principal, call) => {
        const started = await run(services, principal, call)
        const { nodeId, configIndex } = started
        if (started.operation === null) return { started, instead: { noop: true, nodeId, configIndex } }
        return { ...started.operation, started }
      },
      plan: (services, call, outcome) => plan(services, call, outcome?.started ?? null),
    },
  )
}
