/** An error whose message says all that whoever started the command can use: it is shown without a stack. */
export const forPeople = (message) => Object.assign(new Error(message), { isForPeople: true });
