import { z } from 'zod';
import { json, refusal } from './answer.ts';
import { objectsField, readBody, textField } from './body.ts';
import { queryLimit, type Route, type RouteDeps } from './route.ts';
import { maybeNumber, plainParam } from './session-fields.ts';
import { encodeAssembly, encodeFeedback } from './session-wire.ts';

const assemblyBody = z.object({
  query: textField,
  token_budget: maybeNumber,
  estimated_tokens: maybeNumber,
  accepted_estimated_tokens: maybeNumber,
  memory_manifest_id: textField,
  memory_head_changeset_id: textField,
  items: objectsField,
});
const feedbackBody = z.object({ verdict: textField, note: textField });
const assemblyNotFound = refusal(404, 'assembly not found');

/** Assemblies and what is said of them (`lethe.md` §1.4). */
export function sessionAssemblyRoutes({ lethe, retention }: RouteDeps): readonly Route[] {
  return [
    {
      method: 'POST',
      pattern: '/sessions/{id}/assemblies',
      answer: async (asked) => {
        const body = readBody(asked.body, assemblyBody);
        const input = {
          session: plainParam(asked, 'id'),
          query: body.query,
          tokenBudget: body.token_budget,
          estimatedTokens: body.estimated_tokens,
          acceptedEstimatedTokens: body.accepted_estimated_tokens,
          memoryManifestId: body.memory_manifest_id,
          memoryHeadChangesetId: body.memory_head_changeset_id,
          items: body.items,
        };
        const assembly = await lethe.recordAssembly(input, retention);
        return json(encodeAssembly(assembly.row, assembly), 201);
      },
    },
    {
      method: 'GET',
      pattern: '/sessions/{id}/assemblies',
      answer: (asked) => {
        const rows = lethe.listAssemblies(plainParam(asked, 'id'), queryLimit(asked, 50, 200, 200));
        return json({ assemblies: rows.map((row) => encodeAssembly(row)), count: rows.length });
      },
    },
    {
      method: 'GET',
      pattern: '/assemblies/{id}',
      answer: (asked) => {
        const assembly = lethe.findAssembly(plainParam(asked, 'id'));
        return assembly === undefined ? assemblyNotFound : json(encodeAssembly(assembly.row, assembly));
      },
    },
    {
      method: 'POST',
      pattern: '/assemblies/{id}/feedback',
      answer: async (asked) => {
        const said = await lethe.judgeAssembly(plainParam(asked, 'id'), readBody(asked.body, feedbackBody));
        return said === undefined ? assemblyNotFound : json(encodeFeedback(said), 201);
      },
    },
  ];
}
