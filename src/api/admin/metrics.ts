/**
 * The page that Prometheus scrapes. [decisions 15]
 *
 * Rule: it needs a viewer token unless the configuration makes it public, and never a quorum.
 */
import Type from 'typebox'
import { authorize } from '../../access/authorize.ts'
import { openRoute, type RouteDefinition } from '../route.ts'

export interface MetricsPage {
  readonly contentType: string
  render(): Promise<string>
}

export function metricsRoute(metrics: MetricsPage): RouteDefinition {
  return openRoute(
    {
      operationId: 'getMetrics',
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
    },
    async (services, principal) => {
      if (!services.config.metrics.public) authorize(principal, 'getMetrics', {})
      return { kind: 'text', contentType: metrics.contentType, text: await metrics.render() }
    },
  )
}
