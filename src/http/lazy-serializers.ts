import compilerOf, { type RouteDefinition, type Serializer } from '@fastify/fast-json-stringify-compiler'

/**
 * Fastify's own serializers of answers, each compiled when the first answer with its schema is written. Compiling all of
 * them took a fifth of the CPU time of a start.
 */
export function buildLazySerializer(...given: Parameters<ReturnType<typeof compilerOf>>) {
  const compile = compilerOf()(...given)
  return (route: RouteDefinition): Serializer => {
    let serialize: Serializer | undefined
    return (answer) => {
      serialize ??= compile(route)
      return serialize(answer)
    }
  }
}
