/**
 * Every operation there is: those of the routes of both planes, in the order of the API documents, then those that only the S3 API has.
 */
import assert from 'node:assert/strict'
import { adminPlane } from '../../src/api/admin/routes.ts'
import { dataPlane } from '../../src/api/native/routes.ts'
import { s3Table } from '../../src/api/s3/routes.ts'
import type { RouteDefinition } from '../../src/api/route.ts'

const adminRoutes = adminPlane({ contentType: 'text/plain', render: async () => '' }).routes

export const ROUTES: readonly RouteDefinition[] = [...dataPlane.routes, ...adminRoutes]
export const DATA_OPERATIONS = dataPlane.routes.map(({ operation }) => operation)
/** No document describes them. */
export const S3_OPERATIONS = [...new Set(s3Table.routes.map(({ operation }) => operation))].filter(({ id }) =>
  DATA_OPERATIONS.every((native) => native.id !== id),
)
/** Of access keys, by either API. */
export const KEY_OPERATIONS = [...DATA_OPERATIONS, ...S3_OPERATIONS]
export const ADMIN_OPERATIONS = adminRoutes.map(({ operation }) => operation)
export const OPERATIONS = ROUTES.map(({ operation }) => operation)

export function routeOf(id: string): RouteDefinition {
  const route = ROUTES.find(({ operation }) => operation.id === id)
  assert(route !== undefined, `there is an operation ${id}`)
  return route
}

export function operationOf(id: string) {
  const operation = [...OPERATIONS, ...S3_OPERATIONS].find((one) => one.id === id)
  assert(operation !== undefined, `there is an operation ${id}`)
  return operation
}

export const isAdminOperation = (id: string): boolean => ADMIN_OPERATIONS.some((one) => one.id === id)
