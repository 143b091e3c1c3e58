/**
 * The check of the chain of the audit log, on the wire. No rules here.
 */
import Type, { type Static } from 'typebox'
import { LOG_FAULT_KINDS } from '../../operations/audit/log-check.ts'
import {
  type VerifiedPart,
  verifyAuditChain,
  VERIFY_SEGMENTS_DEFAULT,
  VERIFY_SEGMENTS_MAX,
} from '../../operations/audit/verify-audit-chain.ts'
import { adminRoute, type Answer } from '../route.ts'
import { CONTINUATION_TOKEN, orNull, PAGE_END_SCHEMA, pageEnd } from '../wire.ts'

const Count = (description: string) => Type.Integer({ minimum: 0, description })

const Question = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({
        description: `Segments that one request checks: 1 to ${VERIFY_SEGMENTS_MAX}, ${VERIFY_SEGMENTS_DEFAULT} unless given; 1,024 links that are in no segment yet count as one`,
      }),
    ),
    continuationToken: CONTINUATION_TOKEN,
  },
  { additionalProperties: false },
)

const Fault = Type.Object(
  {
    kind: Type.Enum([...LOG_FAULT_KINDS], {
      description:
        'unreadable: a segment without a readable copy; link: a link that was changed, removed or swapped; segmentRow: a segment that differs from its row; end: a chain that ends elsewhere than its head says',
    }),
    segment: orNull(
      Type.Integer({
        minimum: 0,
        description: 'The first link of the segment it was found in; null: in links that no segment holds',
      }),
    ),
    text: Type.String({ description: 'The fault, as a sentence' }),
  },
  { additionalProperties: false },
)

export const VerifiedPartView = Type.Object(
  {
    segments: Count('Segments that were opened and compared with their rows'),
    links: Count('Links that were checked'),
    rows: Count('Rows in these links'),
    first: Count('The number of the oldest link that is kept: older ones were trimmed'),
    from: Count('The number of the first link of this part'),
    to: Count('The number after the last link of this part'),
    end: Count('How many links the chain had at the first request, which is where the check ends'),
    head: Type.String({
      description:
        'The end of the chain as holdfast audit verify --head takes it: end, a colon, and the hash of the last link',
    }),
    isWhole: Type.Boolean({ description: 'This part has no fault' }),
    firstFault: orNull(Fault),
    ...PAGE_END_SCHEMA,
  },
  { additionalProperties: false },
)

export const auditChainRoute = adminRoute(
  verifyAuditChain,
  {
    method: 'POST',
    path: '/audit/verify',
    summary: 'Check that no row of the audit log was changed or removed, a part at a time; nothing changes',
    description:
      'Checks as holdfast audit verify does, from the oldest link on: each link is hashed over the one before it, and each segment is opened and compared with its row. The log is whole if all parts are. Who can write the disks of all nodes can write the chain again: note the head outside of the cluster, and compare it with holdfast audit verify --head.',
    body: { schema: Question },
    success: {
      status: 200,
      description: 'What was checked, and the first fault',
      content: { type: 'application/json', schema: VerifiedPartView },
    },
    example: { body: { limit: 8 } },
  },
  async (services, principal, { body, signal }): Promise<Answer> => {
    const part = await verifyAuditChain(services, principal, { ...body, signal })
    return { kind: 'json', body: partView(part) }
  },
)

function partView({
  end,
  firstFault,
  nextContinuationToken,
  ...counts
}: VerifiedPart): Static<typeof VerifiedPartView> {
  return {
    ...counts,
    end: end.next,
    head: `${end.next}:${end.hash}`,
    isWhole: firstFault === null,
    firstFault,
    ...pageEnd(nextContinuationToken),
  }
}
