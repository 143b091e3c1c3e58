/**
 * The route of what the doctor finds on all members. No rules here.
 */
import Type, { type Static } from 'typebox'
import { type ExaminedNode, getClusterDoctor } from '../../operations/doctor/get-cluster-doctor.ts'
import { SEVERITIES, TERMS } from '../../operations/doctor/self-report.ts'
import { adminRoute, type RouteDefinition } from '../route.ts'
import { orNull, Time, timeText } from '../wire.ts'

export const ClusterDoctorView = Type.Object(
  {
    nodes: Type.Array(
      Type.Object(
        {
          nodeId: Type.String(),
          answer: Type.Enum(['known', 'unreachable', 'unsupported'], {
            description:
              'unreachable: no answer in time; unsupported: of a version that does not know the question. Nothing is known of both',
          }),
          findings: Type.Array(
            Type.Object(
              {
                check: Type.String({ description: 'As in docs/doctor.md' }),
                severity: Type.Enum([...SEVERITIES]),
                found: Type.String(),
                expected: orNull(Type.String()),
                action: orNull(Type.String({ description: 'What to do; null when all is well' })),
              },
              { additionalProperties: false },
            ),
          ),
          notChecked: Type.Array(Type.String(), {
            description: 'Checks that the node did not make; holdfast doctor makes them on its machine',
          }),
          certificates: Type.Array(
            Type.Object(
              {
                setting: Type.String({ description: 'Such as peer_tls.cert' }),
                notBefore: Time,
                notAfter: Time,
                term: Type.Enum([...TERMS], {
                  description: 'By the clock of the node; endsSoon: within 30 days',
                }),
              },
              { additionalProperties: false },
            ),
          ),
          isTruncated: Type.Boolean({ description: 'More was found than is shown' }),
        },
        { additionalProperties: false },
      ),
      { description: 'Every member' },
    ),
  },
  { additionalProperties: false },
)

export const doctorRoutes: readonly RouteDefinition[] = [
  adminRoute(
    getClusterDoctor,
    {
      method: 'GET',
      path: '/cluster/doctor',
      summary: 'Get what the doctor finds on every member, and until when its certificates are valid',
      description:
        'Each member makes the checks of holdfast doctor that a running node can make; the others are in notChecked. Certificates are those in the files, which a running node loads by itself. A member whose answer is not known has no findings, which does not mean that it has no problem.',
      success: {
        status: 200,
        description: 'The findings of every member',
        content: { type: 'application/json', schema: ClusterDoctorView },
      },
      example: {},
    },
    async (services, principal) => {
      return { kind: 'json', body: { nodes: (await getClusterDoctor(services, principal)).map(nodeView) } }
    },
  ),
]

type NodeView = Static<typeof ClusterDoctorView>['nodes'][number]

function nodeView({ nodeId, answer, report }: ExaminedNode): NodeView {
  return {
    nodeId,
    answer,
    findings: report?.findings.map((finding) => ({ ...finding })) ?? [],
    notChecked: [...(report?.notChecked ?? [])],
    certificates:
      report?.certificates.map(({ setting, validFrom, validTo, term }) => ({
        setting,
        notBefore: timeText(validFrom),
        notAfter: timeText(validTo),
        term,
      })) ?? [],
    isTruncated: report?.isTruncated ?? false,
  }
}
