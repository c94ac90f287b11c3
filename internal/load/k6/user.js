// replab's wrapper of a user's own k6 script: everything is the user's; only the summary is written in addition.
export * from USER_SCRIPT;
import * as user from USER_SCRIPT;

export default user.default;

export function handleSummary(data) {
  const outputs = replabOutputs(replabSummary(data, [], null));
  if (typeof user.handleSummary !== 'function') {
    return outputs;
  }
  try {
    const theirs = user.handleSummary(data);
    return { ...outputs, ...(typeof theirs === 'string' ? { stdout: theirs } : theirs) };
  } catch (error) {
    console.error(`the script's handleSummary failed: ${error}`);
    return outputs;
  }
}
