/**
 * Every route of the S3 API, and every action of S3 that is refused by its name.
 */
import type { S3Table } from './s3-dispatch.ts'
import { objectRoutes } from './object-routes.ts'
import { serviceRoutes } from './service-routes.ts'

export const s3Table: S3Table = {
  routes: [...serviceRoutes, ...objectRoutes],
  refused: [],
}
