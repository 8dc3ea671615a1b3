//! The attribute `#[entry_point]`: from a Rust function that returns a `Result` to the C function of the OpenCL API.

use proc_macro::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Error, FnArg, GenericArgument, Ident, ItemFn, Pat, PathArguments, Result, ReturnType, Type};

/// Makes a function an entry point of the OpenCL API, whose name in C is the argument: `#[entry_point(clRetainEvent)]`.
///
/// The function stays as it is, for other entry points to call. Beside it there is a C function of that name. If the
/// function returns `Result<()>`, that returns its status as a `cl_int`; if it returns `Result<T>`, where `T` is a handle
/// or a pointer, the C function returns it and has one more parameter at its end, `errcode_ret`, for the status. Either way
/// errors become codes and are told under the entry point's name, to the context of the first handle among the parameters
/// that has one, and no panic crosses the C boundary (`crate::error::Call`).
///
/// An unsafe function gets the safety section that all of them have: its pointers are as the specification says. The C
/// function is unsafe for `errcode_ret` alone; the function beside it is as unsafe as it is written.
#[proc_macro_attribute]
pub fn entry_point(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let made = syn::parse(arguments)
        .map_err(|_| Error::new(proc_macro2::Span::call_site(), "an entry point has its name in C as the argument"))
        .and_then(|c_name| make_entry_point(&c_name, &syn::parse(item)?));
    made.unwrap_or_else(|error| error.to_compile_error()).into()
}

fn make_entry_point(c_name: &Ident, function: &ItemFn) -> Result<proc_macro2::TokenStream> {
    let ItemFn { attrs, vis, sig, block } = function;
    if sig.abi.is_some() {
        return Err(Error::new(sig.abi.span(), "the attribute makes the function `extern \"C\"`"));
    }
    if !sig.generics.params.is_empty() {
        return Err(Error::new(sig.generics.span(), "a C function has no generic parameters"));
    }
    let value = type_in_result(&sig.output)?;
    let names = parameter_names(sig.inputs.iter())?;
    let (name, parameters, output, unsafety) = (&sig.ident, &sig.inputs, &sig.output, &sig.unsafety);
    let safety = quote! {
        ///
        /// # Safety
        /// The pointers are as the specification of OpenCL, or that of the extension, says.
    };
    let own_safety = unsafety.map(|_| &safety);
    // The caller's promise is that of the C function.
    let body = match unsafety {
        Some(_) => quote!(|| unsafe { #name(#names) }),
        None => quote!(|| #name(#names)),
    };
    let handles = handles(sig.inputs.iter());
    let call = quote!(crate::error::Call { name: stringify!(#c_name), objects: &[#(#handles),*] });
    let doc = format!("[`{name}`] as C calls it.");
    let c_function = if is_unit(value) {
        quote! {
            #vis unsafe extern "C" fn #c_name(#parameters) -> opencl_sys::cl_int {
                #call.status(#body)
            }
        }
    } else {
        let parameters = parameters.iter();
        quote! {
            #vis unsafe extern "C" fn #c_name(
                #(#parameters,)*
                errcode_ret: *mut opencl_sys::cl_int,
            ) -> #value {
                unsafe { #call.object(errcode_ret, #body) }
            }
        }
    };
    // How many parameters there are is the API's choice, and so is the style of its names.
    Ok(quote! {
        #(#attrs)*
        #own_safety
        #[allow(clippy::too_many_arguments)]
        #vis #unsafety fn #name(#parameters) #output #block

        #[doc = #doc]
        #safety
        #[allow(non_snake_case)]
        #c_function
    })
}

/// The types of handles that belong to a context.
const HANDLES: [&str; 10] = [
    "cl_context",
    "cl_command_queue",
    "cl_mem",
    "cl_program",
    "cl_kernel",
    "cl_event",
    "cl_sampler",
    "cl_semaphore_khr",
    "cl_command_buffer_khr",
    "cl_mutable_command_khr",
];

/// The parameters that are such handles, by name.
fn handles<'a>(parameters: impl Iterator<Item = &'a FnArg>) -> Vec<&'a Ident> {
    let is_handle = |parameter: &&FnArg| match parameter {
        FnArg::Typed(typed) => is_handle(&typed.ty),
        FnArg::Receiver(_) => false,
    };
    parameters.filter(is_handle).filter_map(|parameter| parameter_name(parameter).ok()).collect()
}

fn is_handle(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| HANDLES.iter().any(|name| last.ident == name)),
        // What a macro has put in.
        Type::Group(group) => is_handle(&group.elem),
        _ => false,
    }
}

/// The type `T` of a function that returns `Result<T>`.
fn type_in_result(output: &ReturnType) -> Result<&Type> {
    let found = match output {
        ReturnType::Type(_, returned) => match &**returned {
            Type::Path(path) => path.path.segments.last().filter(|last| last.ident == "Result"),
            _ => None,
        },
        ReturnType::Default => None,
    };
    let arguments = found.map(|last| &last.arguments);
    match arguments {
        Some(PathArguments::AngleBracketed(arguments)) => match arguments.args.first() {
            Some(GenericArgument::Type(value)) => Ok(value),
            _ => Err(Error::new(arguments.span(), "the result has no type")),
        },
        _ => Err(Error::new(output.span(), "an entry point returns `Result<()>` or the `Result` of a handle")),
    }
}

fn is_unit(value: &Type) -> bool {
    matches!(value, Type::Tuple(tuple) if tuple.elems.is_empty())
}

/// The parameters by name, to pass them on.
fn parameter_names<'a>(parameters: impl Iterator<Item = &'a FnArg>) -> Result<proc_macro2::TokenStream> {
    let names: Vec<&Ident> = parameters.map(parameter_name).collect::<Result<_>>()?;
    Ok(quote!(#(#names),*))
}

fn parameter_name(parameter: &FnArg) -> Result<&Ident> {
    match parameter {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(name) => Ok(&name.ident),
            other => Err(Error::new(other.span(), "a parameter of an entry point is a name")),
        },
        FnArg::Receiver(receiver) => Err(Error::new(receiver.span(), "an entry point is no method")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    /// What comes of a function, without spaces.
    fn made(function: &ItemFn) -> std::result::Result<String, String> {
        let made = make_entry_point(&parse_quote!(clDoIt), function);
        made.map(|tokens| tokens.to_string().replace(' ', "")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_status_is_the_return_value() {
        let text = made(&parse_quote! {
            pub fn retain(event: cl_event) -> Result<()> { handle::retain(event) }
        });
        let text = text.expect("an entry point");
        assert!(text.contains("pubfnretain(event:cl_event)->Result<()>{handle::retain(event)}"), "{text}");
        assert!(text.contains("pubunsafeextern\"C\"fnclDoIt(event:cl_event)->opencl_sys::cl_int{"), "{text}");
        let call = "{crate::error::Call{name:stringify!(clDoIt),objects:&[event]}.status(||retain(event))}";
        assert!(text.ends_with(call), "{text}");
    }

    #[test]
    fn unsafe_functions_get_the_safety_section() {
        let text = made(&parse_quote! {
            /// `clGetInfo`.
            pub unsafe fn get_info(size: usize, value: *mut c_void) -> Result<()> { Ok(()) }
        });
        let text = text.expect("an entry point");
        assert_eq!(text.matches("Safety").count(), 2, "{text}");
        assert!(text.contains("pubunsafefnget_info(size:usize,value:*mutc_void)->Result<()>{Ok(())}"), "{text}");
        assert!(text.contains("pubunsafeextern\"C\"fnclDoIt(size:usize,value:*mutc_void)"), "{text}");
        assert!(text.ends_with("objects:&[]}.status(||unsafe{get_info(size,value)})}"), "{text}");
    }

    #[test]
    fn objects_have_their_status_written() {
        let text = made(&parse_quote! {
            pub fn create(context: cl_context, size: usize, parent: opencl_sys::cl_mem) -> Result<cl_event> { publish(context) }
        });
        let text = text.expect("an entry point");
        let parameters =
            "(context:cl_context,size:usize,parent:opencl_sys::cl_mem,errcode_ret:*mutopencl_sys::cl_int,)";
        assert!(text.contains(&format!("clDoIt{parameters}->cl_event{{")), "{text}");
        let call = "objects:&[context,parent]}.object(errcode_ret,||create(context,size,parent))}}";
        assert!(text.ends_with(call), "{text}");
    }

    #[test]
    fn what_cannot_be_an_entry_point_is_refused() {
        let refused: [(ItemFn, &str); 4] = [
            (
                parse_quote!(
                    fn f() -> cl_int {
                        0
                    }
                ),
                "returns `Result<()>`",
            ),
            (
                parse_quote!(
                    extern "C" fn f() -> Result<()> {
                        Ok(())
                    }
                ),
                "makes the function",
            ),
            (
                parse_quote!(
                    fn f<T>(a: T) -> Result<()> {
                        Ok(())
                    }
                ),
                "no generic parameters",
            ),
            (
                parse_quote!(
                    fn f((a, b): (A, B)) -> Result<()> {
                        Ok(())
                    }
                ),
                "is a name",
            ),
        ];
        for (function, reason) in refused {
            let error = made(&function).expect_err(reason);
            assert!(error.contains(reason), "{error}");
        }
    }
}
