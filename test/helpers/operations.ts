/**
 * Every operation there is: those of the routes of both planes, in the order of the API documents.
 */
import assert from 'node:assert/strict'
import { adminPlane } from '../../src/api/admin/routes.ts'
import { dataPlane } from '../../src/api/native/routes.ts'
import type { RouteDefinition } from '../../src/api/route.ts'

const adminRoutes = adminPlane({ contentType: 'text/plain', render: async () => '' }).routes

export const ROUTES: readonly RouteDefinition[] = [...dataPlane.routes, ...adminRoutes]
export const DATA_OPERATIONS = dataPlane.routes.map(({ operation }) => operation)
export const ADMIN_OPERATIONS = adminRoutes.map(({ operation }) => operation)
export const OPERATIONS = ROUTES.map(({ operation }) => operation)

export function routeOf(id: string): RouteDefinition {
  const route = ROUTES.find(({ operation }) => operation.id === id)
  assert(route !== undefined, `there is an operation ${id}`)
  return route
}

export const isAdminOperation = (id: string): boolean => ADMIN_OPERATIONS.some((one) => one.id === id)
