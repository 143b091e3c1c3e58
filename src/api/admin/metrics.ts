/**
 * The page that Prometheus scrapes. [decisions 15]
 *
 * Rule: it needs a viewer token unless the configuration makes it public, and never a quorum.
 */
import assert from 'node:assert/strict'
import Type from 'typebox'
import { adminToken } from '../../access/rights.ts'
import { adminOperation } from '../../operations/base/operation.ts'
import { noTarget } from '../../operations/base/targets.ts'
import { openRoute, type RouteDefinition } from '../route.ts'

export interface MetricsPage {
  readonly contentType: string
  render(): Promise<string>
}

export function metricsRoute(metrics: MetricsPage): RouteDefinition {
  const getMetrics = adminOperation(
    {
      id: 'getMetrics',
      requires: adminToken('viewer', 'cluster'),
      refuses: [],
      isRoutine: true,
      target: noTarget,
    },
    () => metrics.render(),
  )
  return openRoute(
    getMetrics,
    {
      method: 'GET',
      path: '/metrics',
      mountedAt: 'root',
      auth: 'metrics',
      summary: 'Figures of this node in the Prometheus text format',
      success: {
        status: 200,
        description: 'The figures',
        content: { type: 'text/plain', schema: Type.String() },
      },
      example: {},
    },
    async (services, principal) => {
      const { contentType } = metrics
      if (services.config.metrics.public) return { kind: 'text', contentType, text: await metrics.render() }
      assert(principal?.kind === 'adminToken', 'the edge proves the principal before the handler runs')
      return { kind: 'text', contentType, text: await getMetrics(services, principal) }
    },
  )
}
